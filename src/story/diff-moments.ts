import type { OperationOutput, OperationParsedInput } from "../protocol/index.ts";
import { compareMoments } from "./compare-moments.ts";
import { type MomentRef, openMoment } from "./moment.ts";
import type { StoryPorts } from "./story-ports.ts";

/** Entries of files that an answer holds at most; the totals count beyond it. */
const FILES_MAX = 20_000;

/**
 * Compares any two moments, whatever lies between them.
 *
 * A section that cannot be read is unknown. Of the throw-away snapshots nothing is left.
 *
 * @throws CHECKPOINT_INCOMPLETE | STORE_FULL
 */
export async function diffMoments(
  refs: { from: MomentRef; to: MomentRef },
  input: Pick<OperationParsedInput<"diff">, "path" | "expand" | "patch" | "sections">,
  ports: StoryPorts,
  signal: AbortSignal,
): Promise<OperationOutput<"diff">> {
  const { path, expand, patch, sections } = input;
  const scope = {
    ...{ under: path ?? null, isExpanded: expand, withPatches: patch, filesMax: FILES_MAX },
    sections: sections ?? null,
  };
  await using from = await openMoment(refs.from, ports);
  await using to = await openMoment(refs.to, ports);
  const changes = await compareMoments({ from, to }, { scope, ports, signal });
  return { from: from.name, to: to.name, ...changes };
}
