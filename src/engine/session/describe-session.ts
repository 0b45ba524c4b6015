import { findStandstill, tellStandstill, unresponsive } from "../../base/index.ts";
import type { SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { type Session, type SessionProcess, splitNetAllow } from "../../shared/protocol/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { describeAutomatic } from "./automatic-of.ts";
import { endAtLimit, hitsOf, limitsOf } from "./session-limits.ts";

/** Returns a session as the outside sees it, with what its processes use now. */
export function describeSession(row: SessionRow, engine: Engine): Session {
  const live = engine.live.get(row.id);
  const { instance, instanceCount: _, memoryLimitBytes, cpuLimit, pidsLimit, ...rest } = row;
  const { diskLimitBytes, ...more } = rest;
  const { autoPausedAt: _p, autoFailure: _f, autoFailedAt: _a, ...kept } = more;
  const { verifyWords: _v, verifyAutomatic, agentState: _s, approval: _r, ...shownRow } = kept;
  const { netAllow, ...shown } = shownRow;
  const lastKeyAtMs = engine.typing.lastKeyAtMs(row.id);
  return {
    ...shown,
    allow: netAllow === null ? null : splitNetAllow(netAllow),
    binds: [...shown.binds],
    hostMounts: [...shown.hostMounts],
    limits: limitsOf({ memoryLimitBytes, cpuLimit, pidsLimit, diskLimitBytes }),
    limitsHit: hitsOf(row, engine),
    auto: describeAutomatic(row, engine.settings),
    verifyAutomatic: verifyAutomatic === null,
    attached: {
      count: engine.live.attachedCount(row.id),
      lastKeyAt: lastKeyAtMs === null ? null : new Date(lastKeyAtMs).toISOString(),
    },
    pid: live?.pid ?? null,
    address: instance === null ? null : (engine.catalog.instance(instance)?.address ?? null),
    disk: engine.store.shares.usage({ sessionId: row.id, diskLimitBytes }),
    silence: tellSilence(row, live, engine),
    filling: live !== undefined && engine.filling.has(live.instanceId),
    memoryBytes: live === undefined ? null : engine.sandbox.treeMemoryBytes(live.pid),
  };
}

/** Lists a running session's processes. @throws SESSION_WRONG_STATE */
export function listProcesses(row: SessionRow, engine: Engine): SessionProcess[] {
  const live = requireLive(row, engine);
  const names = engine.sandbox.userNames(engine.sandbox.mergedDir(live.instanceId));
  return engine.sandbox
    .listProcesses(live.pid)
    .map(({ uid, startedAtMs, threadCount: _, ...process }) => ({
      ...process,
      user: names.get(uid) ?? String(uid),
      startedAt: new Date(startedAtMs).toISOString(),
    }));
}

/** Returns a session's live instance. @throws SESSION_WRONG_STATE | SESSION_UNRESPONSIVE */
export function requireLive(row: SessionRow, engine: Engine): LiveInstance {
  const live = engine.live.get(row.id);
  if (live !== undefined) return live;
  const state = engine.catalog.session(row.id)?.state ?? row.state;
  if (state === "running") {
    throw unresponsive(engine.catalog.instance(row.instance ?? "")?.pid ?? undefined);
  }
  const why = endAtLimit(null, hitsOf(row, engine), row);
  const how = state === "ended" ? `its processes have ended${why}` : `it is ${state}`;
  throw new WaypointError("SESSION_WRONG_STATE", `Session ${row.name} is not running: ${how}.`, {
    hint: `\`waypoint start ${row.name}\` starts it again.`,
    detail: { state },
  });
}

/** Returns why a running session does not answer; `null` of one that does, as far as is known. */
function tellSilence(
  { state, instance }: SessionRow,
  live: LiveInstance | undefined,
  engine: Engine,
): string | null {
  if (state !== "running" || instance === null) return null;
  // In a dump CRIU holds it.
  if (live?.link.isQuiesced === true) return null;
  const pid = live?.pid ?? engine.catalog.instance(instance)?.pid ?? null;
  const standstill = pid === null ? null : findStandstill(pid);
  if (standstill !== null) return tellStandstill(standstill);
  return live === undefined ? "does not answer" : null;
}
