import path from "node:path";
import { WaypointError } from "../../../shared/errors/index.ts";
import type { Applied, OperationInput } from "../../../shared/protocol/index.ts";
import {
  type CommandContext,
  call,
  callStream,
  type Invocation,
  note,
  printLong,
} from "../context.ts";
import { EXIT_CODE_CONFLICTS } from "../exit-codes.ts";
import { parsePlace } from "../parse-place.ts";
import { renderPlan } from "../render-plan.ts";

interface ApplyOptions {
  to?: string;
  dryRun?: boolean;
  patch?: boolean;
  force?: boolean;
  undo?: string | true;
  continue?: boolean;
  abort?: boolean;
}

/** Brings work out of the sandbox; takes it back, completes it or puts it back. */
export async function run({
  context,
  args,
  rest,
  options,
}: Invocation<ApplyOptions>): Promise<number | undefined> {
  const { dryRun = false, force = false } = options;
  if (options.undo !== undefined) {
    const operation = options.undo === true ? undefined : parseNumber(options.undo);
    return await takeBack(context, operation, { dryRun, force });
  }
  if (options.continue) {
    return await print(context, await call(context, "apply.continue", {}), "completed", false);
  }
  if (options.abort) {
    return await print(context, await call(context, "apply.abort", {}), "put back", false);
  }
  const [checkpoint] = args;
  if (checkpoint === undefined) {
    throw new WaypointError("USAGE_INVALID", "A checkpoint is needed.", {
      hint: "For instance `waypoint apply web@ /srv/app --dry-run`.",
    });
  }
  const { to, patch = false } = options;
  const result = await apply(context, {
    ...{ checkpoint, paths: rest.map(toPath), dryRun, patch, force },
    ...(to === undefined ? {} : { to: toPath(path.resolve(to)) }),
  });
  return patch ? undefined : await print(context, result, "applied", dryRun);
}

/** Takes an apply back: the one of this number, or the last. */
export async function takeBack(
  context: CommandContext,
  operation: number | undefined,
  { dryRun, force }: { dryRun: boolean; force: boolean },
): Promise<number | undefined> {
  const input = { dryRun, force, ...(operation === undefined ? {} : { operation }) };
  return await print(context, await call(context, "apply.undo", input), "taken back", dryRun);
}

/** A patch goes to standard output as it comes; with --json too, which prints no result then. */
async function apply(context: CommandContext, input: OperationInput<"apply">): Promise<Applied> {
  return await callStream(context, "apply", input, async (stream) => {
    for await (const event of stream) {
      if (event.kind === "notice") note(context, event.notice);
      else await context.output.bytes("stdout", event.bytes);
    }
    return await stream.result;
  });
}

async function print(
  context: CommandContext,
  result: Applied,
  done: string,
  isDryRun: boolean,
): Promise<number | undefined> {
  const what = { done, isDryRun, target: result.target };
  await printLong(context, result, (shown) => renderPlan(shown, what, context.output.paint));
  if (result.isDone && result.operation !== null) {
    note(context, `Take it back with \`waypoint apply --undo ${result.operation}\`.`);
  }
  return isDryRun && result.totals.conflicts > 0 ? EXIT_CODE_CONFLICTS : undefined;
}

function toPath(text: string): { path: string; pathBase64?: string } {
  const bytes = Buffer.from(parsePlace(`:${text}`).path);
  const shown = bytes.toString("utf8");
  const isText = Buffer.from(shown, "utf8").equals(bytes);
  return isText ? { path: shown } : { path: "", pathBase64: bytes.toString("base64") };
}

function parseNumber(text: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw new WaypointError("USAGE_INVALID", "--undo takes the number of an operation.", {
    hint: "An apply prints its number; without one the last apply is taken back.",
  });
}
