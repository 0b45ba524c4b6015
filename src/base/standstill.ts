import { readFileSync } from "node:fs";
import { WaypointError } from "../shared/errors/index.ts";
import { hasFrozenGroup } from "./frozen-group.ts";

/** Why a process takes no step until somebody else lets it. */
export type Standstill =
  | { kind: "stopped" }
  /** `pid` as its own namespace counts, `hostPid` as the machine does; 0 for one that is not seen. */
  | { kind: "traced"; pid: number; hostPid: number; name: string }
  | { kind: "frozen" };

/**
 * Functions of the kernel in which a task waits that its control group (version 2) keeps frozen; one
 * that is stopped waits in the first, too, but says so.
 */
const FROZEN_IN = /^(get_signal|do_freezer_trap)$/;

/**
 * Returns what keeps a process from running; `null` of one that may run, or has ended.
 *
 * A process that has a tracer but runs does not stand still.
 */
export function findStandstill(hostPid: number): Standstill | null {
  const status = readProc(hostPid, "status");
  const state = /^State:\s+(\S)/m.exec(status)?.[1];
  if (state === "T") return { kind: "stopped" };
  if (state === "t") return { kind: "traced", ...describeTracer(status) };
  return isFrozen(hostPid, state) ? { kind: "frozen" } : null;
}

function isFrozen(hostPid: number, state: string | undefined): boolean {
  if (state === "S") return FROZEN_IN.test(readProc(hostPid, "wchan"));
  return state === "D" && hasFrozenGroup(hostPid);
}

/** Returns a standstill as the end of a sentence, such as "is stopped". */
export function tellStandstill(standstill: Standstill): string {
  switch (standstill.kind) {
    case "stopped":
      return "is stopped by a signal";
    case "frozen":
      return "is frozen by its control group";
    case "traced":
      return standstill.hostPid === 0
        ? "is traced by a process outside"
        : `is traced by process ${standstill.pid} (${standstill.name})`;
  }
}

/** Returns the error about a session whose first process does not answer, with the reason. */
export function unresponsive(initPid: number | undefined, cause?: unknown): WaypointError {
  const standstill = initPid === undefined ? null : findStandstill(initPid);
  const why = standstill === null ? "does not answer" : tellStandstill(standstill);
  return new WaypointError("SESSION_UNRESPONSIVE", `The session's first process ${why}.`, {
    hint:
      wayOut(standstill, initPid) +
      "`waypoint checkpoint --files-only` captures the files all the same, `waypoint restore " +
      "--lose-processes` goes back (undo then has the files alone), `waypoint rm --force` ends " +
      "the session.",
    detail: { initPid: initPid ?? null, standstill },
    cause,
  });
}

function wayOut(standstill: Standstill | null, initPid: number | undefined): string {
  if (standstill?.kind === "stopped") return `\`kill -CONT ${initPid}\` lets it go on. `;
  if (standstill?.kind === "frozen") return "It answers when its control group is thawed. ";
  if (standstill?.kind !== "traced" || standstill.hostPid === 0) return "";
  return `\`kill -KILL ${standstill.hostPid}\` on this machine ends the tracer. `;
}

function describeTracer(status: string): { pid: number; hostPid: number; name: string } {
  const hostPid = Number(/^TracerPid:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  const tracer = hostPid === 0 ? "" : readProc(hostPid, "status");
  return {
    hostPid,
    pid: Number(/^NSpid:.*?(\d+)$/m.exec(tracer)?.[1] ?? hostPid),
    name: /^Name:\s+(.*)$/m.exec(tracer)?.[1] ?? "?",
  };
}

function readProc(hostPid: number, file: string): string {
  try {
    return readFileSync(`/proc/${hostPid}/${file}`, "utf8");
  } catch {
    return ""; // It has ended.
  }
}
