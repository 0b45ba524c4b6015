import type { SessionProcess } from "../../../shared/protocol/index.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { truncate } from "../text/display-width.ts";
import { printable } from "../text/printable.ts";
import { formatAge, formatSize } from "../text/quantities.ts";
import { shownCommand } from "../text/secrets.ts";
import { type Column, layoutTable } from "../text/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "PID", align: "right" },
  { title: "HOST PID", align: "right" },
  { title: "USER" },
  { title: "STATE" },
  { title: "MEMORY", align: "right" },
  { title: "AGE", align: "right" },
  { title: "COMMAND" },
];

/** Lists the processes of a session. */
export async function run({ context, args }: Invocation): Promise<undefined> {
  const result = await call(context, "ps", { session: args[0] ?? "" });
  await printResult(context, result, ({ processes }) =>
    renderProcesses(processes, context.nowMs).map((line) => truncate(line, context.output.columns)),
  );
}

function renderProcesses(processes: readonly SessionProcess[], nowMs: number): string[] {
  const rows = processes.map((process) => [
    String(process.pid),
    String(process.hostPid),
    printable(process.user),
    process.state,
    formatSize(process.memoryBytes),
    formatAge(process.startedAt, nowMs),
    shownCommand(process.command),
  ]);
  return layoutTable(COLUMNS, rows);
}
