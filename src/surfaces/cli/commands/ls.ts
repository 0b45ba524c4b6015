import type { Session } from "../../../shared/protocol/index.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { renderBinds } from "../render-binds.ts";
import { tellAutomatic } from "../tell-automatic.ts";
import { printable } from "../text/printable.ts";
import { formatAge, formatCount, formatDuration, formatSize } from "../text/quantities.ts";
import type { Paint } from "../text/style.ts";
import { type Column, layoutTable } from "../text/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "NAME" },
  { title: "STATE" },
  { title: "HEAD" },
  { title: "MEMORY", align: "right" },
  { title: "DISK", align: "right" },
  { title: "PIDS", align: "right" },
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
    session.limits.pids === null ? "unlimited" : formatCount(session.limits.pids),
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

/** A session that had to wait less than this for its share of the processors was not held up by it. */
const HELD_BACK_SHOWN_MS = 1_000;

function renderDisk({ disk, limits }: Session): string {
  if (disk === null) return "-";
  const used = formatSize(disk.usedBytes);
  return limits.diskBytes === null ? used : `${used} of ${formatSize(disk.shareBytes)}`;
}

/** A session with less left of its share of the store can write no more, as a rule. */
const DISK_LEFT_BYTES = 1024 * 1024;

/**
 * Says how a session is. What it has come up against stands in the past, for something in it failed
 * then, or was slow; only what it takes of the store is known as it is now.
 */
export function renderState(
  { state, limitsHit, disk, silence }: Pick<Session, "state" | "limitsHit" | "disk" | "silence">,
  paint: Paint,
): string {
  const word = paint(state === "running" ? "green" : "yellow", state);
  if (silence !== null) return `${word}, ${paint("yellow", printable(silence))}`;
  const isFull = disk !== null && disk.usedBytes + DISK_LEFT_BYTES > disk.shareBytes;
  const { memory = 0, pids = 0, cpuHeldBackMs = 0 } = limitsHit ?? {};
  const hits = [
    ...(memory > 0 ? [`memory ${times(memory)}`] : []),
    ...(pids > 0 ? [`pids ${times(pids)}`] : []),
    ...(cpuHeldBackMs >= HELD_BACK_SHOWN_MS ? [`cpus for ${formatDuration(cpuHeldBackMs)}`] : []),
  ];
  const told = [
    ...(isFull ? ["at its limit: disk"] : []),
    ...(hits.length > 0 ? [`was at its limit: ${hits.join(", ")}`] : []),
  ];
  return [word, ...told.map((each) => paint("yellow", each))].join(", ");
}

function times(count: number): string {
  return count === 1 ? "once" : `${formatCount(count)} times`;
}
