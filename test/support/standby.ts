import { readFileSync } from "node:fs";
import type { Checkpoint, Session } from "../../src/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { eventually, type TestWaypoint } from "./test-waypoint.ts";

/** Waits until a checkpoint has a standby for a session. */
export async function untilReady(session: Session, checkpoint: string | Checkpoint): Promise<void> {
  const id = typeof checkpoint === "string" ? checkpoint : checkpoint.id;
  await eventually(
    `a standby of ${id}`,
    () => session.standby(),
    ({ ready }) => ready.includes(id),
  );
}

/** Returns what the daemon says of its standbys. */
export async function standbysOf(own: TestWaypoint) {
  return (await callOperation(own.stateDir, "daemon.status", {})).standbys;
}

/** Returns the time on the clock that the start of a process is counted by, in seconds. */
export function uptimeSeconds(): number {
  return Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
}

/** Returns when the first process of a session was started, on the same clock. */
export async function startedAtSeconds(session: Session): Promise<number> {
  const { pid } = await session.info();
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]) / 100;
}
