import { Rollback } from "../../base/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import { captureDecisions } from "../decisions/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { requireRestorableBinds } from "../session/index.ts";
import { scheduleStory } from "../story/index.ts";
import { aroundDump, type Leaving } from "./around-dump.ts";
import { type CheckpointOptions, checkpointRow, roundMs } from "./checkpoint-row.ts";
import { copyAhead } from "./copy-ahead.ts";
import { dumpInstance } from "./dump-instance.ts";
import { noteBaseline, parentIfUnchanged } from "./exact-change-check.ts";
import { scheduleDurable } from "./make-durable.ts";
import { toManifest } from "./manifest.ts";
import { bytesOfPause } from "./memory-reserve.ts";
import { noteServedFrom, planUnfilled } from "./unfilled-dump.ts";

/**
 * Captures a session as an immutable checkpoint, without ending or disturbing what runs in it.
 *
 * **Requires** the caller holds the session's lease.
 * **On success** the checkpoint is recorded as `captured` and becomes `durable` in the background.
 * Where nothing has run or changed since its parent, it shares what that one has captured.
 * **On failure** nothing is recorded or left behind, and the session runs as before.
 *
 * @throws CANCELLED         whoever holds the lease does not want it any more.
 * @throws CRIU_DUMP_FAILED  CRIU refused a process; `detail` names it and the resource.
 * @throws SESSION_UNRESPONSIVE  its first process does not answer.
 * @throws STORE_FULL        the store has no room.
 * @throws SESSION_ENDED     a lazy restore that was still under way has failed.
 */
export async function createCheckpoint(
  session: SessionRow,
  options: CheckpointOptions,
  engine: Engine,
): Promise<CheckpointRow> {
  const startedAtMs = performance.now();
  const id = engine.newId();
  const live = options.filesOnly ? undefined : engine.live.get(session.id);
  const { leases } = engine;
  leases.throwIfCancelled(session.id);
  await using rollback = new Rollback();
  rollback.defer("remove the unfinished checkpoint", () => engine.store.deleteCheckpoint(id));

  // What keeps the present state before it is left may use what is kept free for that.
  const isKeeping = options.trigger === "before-restore" || options.trigger === "before-stop";
  if (!isKeeping) requireShare(session, engine);
  await engine.store.space.flushIfDirty(isKeeping ? "keeping" : "new");
  leases.throwIfCancelled(session.id);
  // Before the pause: what is sent in between is told as later, rather than not at all.
  const contacts = engine.contacts.settle(session.instance, null);
  const staysAlone = isKeeping || options.trigger === "before-merge";
  const leaving = { beforePause: contacts, staysAlone };
  const captured =
    live === undefined
      ? await captureFiles(session, id, engine)
      : ((await shareCaptures(session, live, id, engine)) ??
        (await (engine.settings.trackMemory === null
          ? captureAll(session, live, id, engine, leaving)
          : captureAfterCopy(session, live, id, engine, leaving))));
  const { commands, ...facts } = captured;
  // A dump is let come to its end, for the sake of the processes: but nobody needs it.
  leases.throwIfCancelled(session.id);
  const row = checkpointRow(session, live, options, engine, {
    id,
    ...facts,
    totalMs: roundMs(performance.now() - startedAtMs),
  });
  await engine.store.writeManifest(id, toManifest(row));
  engine.catalog.transaction(() => {
    engine.catalog.insertCheckpoint(row);
    if (options.movesHead) engine.catalog.updateSession(session.id, { head: id });
    if (live !== undefined) noteServedFrom(live, id, engine);
  });

  rollback.keep();
  engine.journal.keep(id, commands);
  // What ends behind its last checkpoint has no other one for what was decided meanwhile.
  captureDecisions(session.instance, isKeeping ? { id, createdAt: now() } : row, engine);
  await contacts;
  engine.contacts.capture(session, row);
  scheduleDurable(id, engine);
  scheduleStory(id, engine);
  return row;
}

function now(): string {
  return new Date().toISOString();
}

function requireShare({ id, diskLimitBytes }: SessionRow, { store }: Engine): void {
  store.shares.requireShare({ sessionId: id, diskLimitBytes }, "take a checkpoint");
}

async function captureFiles(session: SessionRow, id: string, engine: Engine) {
  if (session.instance === null) {
    throw new WaypointError("SESSION_WRONG_STATE", `Session ${session.name} has no files now.`, {
      hint: `\`waypoint restore ${session.name} CHECKPOINT\` brings back those of a checkpoint.`,
    });
  }
  await engine.store.prepareCheckpoint(id, 0);
  const commands = engine.journal.soFar(session.instance ?? "");
  engine.store.snapshotInstance(session.instance ?? "", id);
  const createdAt = now();
  const nothing = { createdAt, pauseMs: 0, memoryBytes: 0, pauseBytes: null };
  return { ...nothing, unchangedSince: null, imagesSums: null, commands };
}

/** Captures nothing anew where the parent's captures are still what is there. */
async function shareCaptures(session: SessionRow, live: LiveInstance, id: string, engine: Engine) {
  const commands = engine.journal.soFar(live.instanceId);
  const parent = await parentIfUnchanged(session, live, engine);
  if (parent === null) return null;
  const createdAt = now();
  try {
    await engine.store.shareCaptures(id, parent.id);
  } catch (error) {
    if (hasCode(error, "STORE_FULL")) throw error;
    // The parent may be going away just now.
    engine.logger.info("captures not shared", { parent: parent.id, reason: String(error) });
    await engine.store.deleteCheckpoint(id);
    return null;
  }
  noteBaseline(live, id);
  const { memoryBytes, imagesSums } = parent;
  const captured = { createdAt, pauseMs: 0, memoryBytes, pauseBytes: 0 };
  return { ...captured, unchangedSince: parent.id, imagesSums, commands };
}

/** Copies much memory first, while the programs run, where that is asked for. */
async function captureAfterCopy(...[session, live, id, engine, leaving]: CaptureParameters) {
  // What has not all of its memory takes the rest from the images that it comes from.
  const isFilling = engine.filling.has(live.instanceId);
  if (isFilling) return await captureAll(session, live, id, engine, leaving);
  await using copied = await copyAhead(session, live, id, engine);
  return await captureAll(session, live, id, engine, leaving, copied.pauseMs);
}

type CaptureParameters = [SessionRow, LiveInstance, string, Engine, Leaving];

async function captureAll(
  session: SessionRow,
  live: LiveInstance,
  id: string,
  engine: Engine,
  leaving: Leaving,
  pausedMs = 0,
) {
  const unfilled = await planUnfilled(live, id, engine);
  engine.leases.throwIfCancelled(session.id);
  requireRestorableBinds(session, live.pid, engine);
  const around = aroundDump(session, live, id, engine, leaving);
  try {
    const dumped = await dumpInstance(session, live, id, engine, { unfilled, around });
    const kept = around.keep();
    engine.warmMemory.note(session.id, bytesOfPause(dumped, engine.settings));
    const pauseMs = roundMs(dumped.pauseMs + pausedMs);
    return { ...dumped, ...kept, pauseMs, unchangedSince: null, imagesSums: null };
  } finally {
    await around.end();
  }
}
