import type { Session } from "../../protocol/index.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { renderBinds } from "../render-binds.ts";
import { tellAutomatic } from "../tell-automatic.ts";
import { printable } from "../text/printable.ts";
import { formatAge, formatSize } from "../text/quantities.ts";
import type { Paint } from "../text/style.ts";
import { type Column, layoutTable } from "../text/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "NAME" },
  { title: "STATE" },
  { title: "HEAD" },
  { title: "MEMORY", align: "right" },
  { title: "DISK", align: "right" },
  { title: "AGE", align: "right" },
  { title: "ADDRESS" },
  { title: "ID" },
];

/** Lists the sessions. */
export async function run({ context }: Invocation): Promise<undefined> {
  const result = await call(context, "ls", {});
  await printResult(context, result, ({ sessions }) =>
    renderSessions(sessions, { nowMs: context.nowMs, paint: context.output.paint }),
  );
}

/** Returns the table of sessions. */
export function renderSessions(
  sessions: readonly Session[],
  { nowMs, paint }: { nowMs: number; paint: Paint },
): string[] {
  if (sessions.length === 0) return ["No sessions. Start one with `waypoint new`."];
  const rows = sessions.map((session) => [
    paint("bold", printable(session.name)),
    renderState(session, paint),
    session.head ?? "-",
    session.memoryBytes === null ? "-" : formatSize(session.memoryBytes),
    renderDisk(session),
    formatAge(session.createdAt, nowMs),
    session.address ?? "-",
    session.id,
  ]);
  const binds = sessions.flatMap((session) =>
    renderBinds(session.binds, `${printable(session.name)}: `),
  );
  const told = [...binds, ...tellAutomatic(sessions)];
  return [...layoutTable(COLUMNS, rows), ...(told.length === 0 ? [] : ["", ...told])];
}

/** A session that had to wait less than this for its share of the processors is not at its limit. */
const HELD_BACK_SHOWN_MS = 1_000;

function renderDisk({ disk, limits }: Session): string {
  if (disk === null) return "-";
  const used = formatSize(disk.usedBytes);
  return limits.diskBytes === null ? used : `${used} of ${formatSize(disk.shareBytes)}`;
}

/** A session with less left of its share of the store can write no more, as a rule. */
const DISK_LEFT_BYTES = 1024 * 1024;

/** A session that has come up against a limit says so: something in it failed, or was slow. */
function renderState({ state, limitsHit, disk, silence }: Session, paint: Paint): string {
  const word = paint(state === "running" ? "green" : "yellow", state);
  if (silence !== null) return `${word}, ${paint("yellow", printable(silence))}`;
  const hits = [
    ...(limitsHit !== null && limitsHit.memory > 0 ? ["memory"] : []),
    ...(limitsHit !== null && limitsHit.pids > 0 ? ["pids"] : []),
    ...(disk !== null && disk.usedBytes + DISK_LEFT_BYTES > disk.shareBytes ? ["disk"] : []),
    ...(limitsHit !== null && limitsHit.cpuHeldBackMs >= HELD_BACK_SHOWN_MS ? ["cpus"] : []),
  ];
  if (hits.length === 0) return word;
  return `${word}, ${paint("yellow", `at its limit: ${hits.join(", ")}`)}`;
}
