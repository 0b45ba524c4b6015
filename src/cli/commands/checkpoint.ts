import type { Checkpoint } from "../../protocol/index.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { withoutUndefined } from "../session-options.ts";
import { printable } from "../text/printable.ts";
import { formatDuration, formatSize } from "../text/quantities.ts";

interface CheckpointOptions {
  intent?: string;
  name?: string;
  filesOnly?: boolean;
  durable?: boolean;
}

/** Captures a session. */
export async function run({
  context,
  args,
  options,
}: Invocation<CheckpointOptions>): Promise<undefined> {
  const { intent, name, filesOnly, durable } = options;
  const input = withoutUndefined({ intent, name, filesOnly, durable });
  const result = await call(context, "checkpoint", { ...input, session: args[0] ?? "" });
  await printResult(context, result, renderCheckpoint);
}

function renderCheckpoint(checkpoint: Checkpoint): string[] {
  const { id, name, sessionName, pauseMs, totalMs, memoryBytes, changes, unchangedSince } =
    checkpoint;
  const what = checkpoint.content === "files" ? "the files of " : "";
  const named = name === null ? "" : ` (${printable(name)})`;
  return [
    `Captured ${what}${printable(sessionName)} as ${id}${named}`,
    ...(unchangedSince === null
      ? []
      : [`Nothing has run or changed since ${unchangedSince}, which it shares everything with.`]),
    `Paused ${formatDuration(pauseMs)} of ${formatDuration(totalMs)}, ` +
      `${formatSize(memoryBytes)} of memory.`,
    ...(changes.summary === "" ? [] : [`Changes: ${printable(changes.summary)}`]),
  ];
}
