import type { OperationOutput } from "../../protocol/index.ts";
import { type CommandContext, call, type Invocation, printResult } from "../context.ts";
import { printable, printableLines } from "../text/printable.ts";
import { formatAge, formatClock, formatDuration, formatSize } from "../text/quantities.ts";
import { layoutFields, layoutTable } from "../text/table.ts";

/** Shows one checkpoint in full. */
export async function run({ context, args }: Invocation): Promise<undefined> {
  const result = await call(context, "show", { checkpoint: args[0] ?? "" });
  const isRemoved = context.isJson ? false : await isSessionRemoved(context, result.session);
  await printResult(context, result, (shown) =>
    renderCheckpoint(shown, { nowMs: context.nowMs, isRemoved }),
  );
}

/** A session that was removed may have left its name to another one. */
async function isSessionRemoved(context: CommandContext, session: string): Promise<boolean> {
  const { sessions } = await call(context, "ls", {});
  return sessions.every(({ id }) => id !== session);
}

/** Returns every fact about a checkpoint. */
export function renderCheckpoint(
  shown: OperationOutput<"show">,
  { nowMs, isRemoved }: { nowMs: number; isRemoved: boolean },
): string[] {
  const { verification, host } = shown;
  const fields: [string, string][] = [
    ["Checkpoint", shown.id],
    ["Name", shown.name === null ? "-" : printable(shown.name)],
    [
      "Session",
      `${printable(shown.sessionName)} (${shown.session}${isRemoved ? ", removed" : ""})`,
    ],
    ["Parent", shown.parent ?? "-"],
    ["Taken", `${formatClock(shown.createdAt, nowMs)} (${formatAge(shown.createdAt, nowMs)} ago)`],
    ["Trigger", shown.trigger],
    ["Content", shown.content === "full" ? "processes and files" : "files alone"],
    ["Stage", shown.stage],
    ["Pause", `${formatDuration(shown.pauseMs)} of ${formatDuration(shown.totalMs)}`],
    ["Memory", formatSize(shown.memoryBytes)],
    ["Changes", shown.changes.summary === "" ? "-" : printable(shown.changes.summary)],
    ["Verified", verification === null ? "-" : renderVerification(verification)],
    ["Host", `Linux ${printable(host.kernel)} ${host.arch}, CRIU ${printable(host.criu)}`],
    ["Files", printable(shown.diskPath)],
  ];
  return [
    ...layoutFields(fields),
    ...(shown.intent === null ? [] : ["", ...indentLines(printableLines(shown.intent))]),
    ...renderProcesses(shown.processes),
  ];
}

function renderVerification(verification: {
  command: string;
  exitCode: number;
  durationMs: number;
}): string {
  const { command, exitCode, durationMs } = verification;
  const mark = exitCode === 0 ? "✓" : `✗ exit code ${exitCode}`;
  return `${mark} ${printable(command)} (${formatDuration(durationMs)})`;
}

function renderProcesses(processes: readonly { pid: number; command: string }[]): string[] {
  if (processes.length === 0) return [];
  const rows = processes.map(({ pid, command }) => [String(pid), printable(command)]);
  return ["", ...layoutTable([{ title: "PID", align: "right" }, { title: "COMMAND" }], rows)];
}

function indentLines(text: string): string[] {
  return text.split("\n").map((line) => `    ${line}`);
}
