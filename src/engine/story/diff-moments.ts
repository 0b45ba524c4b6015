import path from "node:path";
import type { OperationOutput, OperationParsedInput } from "../../shared/protocol/index.ts";
import type { MomentPair, ReadingEngine } from "../moment/index.ts";
import { MomentFiles, type MomentRef, openMoment, requirePath } from "../moment/index.ts";
import { compareMoments } from "./compare-moments.ts";
import { shellDirectory } from "./shell-directory.ts";

/** Entries of files that an answer holds at most; the totals count beyond it. */
const FILES_MAX = 20_000;

/**
 * Compares any two moments, whatever lies between them.
 *
 * A section that cannot be read is unknown. Of the throw-away snapshots nothing is left.
 *
 * @throws CHECKPOINT_INCOMPLETE | STORE_FULL | FILE_NOT_FOUND  the path is on neither side.
 */
export async function diffMoments(
  refs: { from: MomentRef; to: MomentRef },
  input: Pick<OperationParsedInput<"diff">, "path" | "expand" | "patch" | "sections">,
  engine: ReadingEngine,
  signal: AbortSignal,
): Promise<OperationOutput<"diff">> {
  const { expand, patch, sections } = input;
  await using from = await openMoment(refs.from, engine);
  await using to = await openMoment(refs.to, engine);
  const under = input.path === undefined ? null : await wholePath(input.path, { from, to }, engine);
  const scope = {
    ...{ under, isExpanded: expand, withPatches: patch, filesMax: FILES_MAX },
    sections: sections ?? null,
  };
  const changes = await compareMoments({ from, to }, { scope, engine, signal });
  return { from: from.name, to: to.name, ...changes };
}

/** A relative path begins where the session's shell was at the second moment. */
async function wholePath(
  given: string,
  { from, to }: MomentPair,
  engine: ReadingEngine,
): Promise<string> {
  const directory = given.startsWith("/") ? "/" : ((await shellDirectory(to, engine)) ?? "/");
  const whole = path.posix.resolve(directory, given);
  using fromFiles = new MomentFiles(from);
  using toFiles = new MomentFiles(to);
  requirePath(whole, [
    { moment: from, files: fromFiles },
    { moment: to, files: toFiles },
  ]);
  return whole;
}
