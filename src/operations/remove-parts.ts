import { sweepStates } from "../engine/agent-state/index.ts";
import { removeCheckpoints, writeManifest } from "../engine/checkpoint/index.ts";
import type { Engine, StreamClient } from "../engine/ports/index.ts";
import { describeSession, removeInstance } from "../engine/session/index.ts";
import { scheduleStory } from "../engine/story/index.ts";
import { lineWithout, resolveOnlyCheckpoint } from "../portable/lineage/index.ts";
import type { CheckpointRow } from "../portable/model/index.ts";
import { WaypointError } from "../shared/errors/index.ts";
import type { OperationOutput, OperationParsedInput } from "../shared/protocol/index.ts";
import { endBrowsing } from "./file-handlers.ts";
import { withSession } from "./with-session.ts";

/**
 * Removes single checkpoints. Their children get the nearest parent that remains.
 *
 * **On failure** those whose manifests were removed cannot be found again without the catalog; the
 * same call again finishes.
 *
 * @throws CHECKPOINT_NOT_FOUND  nothing is removed.
 * @throws CANCELLED  the client left the queue; nothing is removed.
 * @throws FORMAT_TOO_NEW  a newer Waypoint has written a child; nothing is removed.
 * @throws CHECKPOINT_IN_USE     something needs one of them and `force` was not given; nothing is
 * removed.
 */
export async function removeSingleCheckpoints(
  { checkpoints, force }: OperationParsedInput<"rm.checkpoints">,
  engine: Engine,
  client: StreamClient,
): Promise<OperationOutput<"rm.checkpoints">> {
  const asked = checkpoints.map((reference) => resolveOnlyCheckpoint(reference, engine.catalog));
  const rows = [...new Map(asked.map((row) => [row.id, row])).values()];
  const sessions = [...new Set(rows.map(({ session }) => session))].sort();
  const remove = () => removeRows(rows, force, engine);
  return await withLeases(sessions, { engine, signal: client.cancelled }, remove);
}

async function removeRows(
  rows: readonly CheckpointRow[],
  force: boolean,
  engine: Engine,
): Promise<OperationOutput<"rm.checkpoints">> {
  const { catalog, store } = engine;
  const ids = rows.map(({ id }) => id);
  requireNotFilling(ids, engine);
  if (!force) for (const row of rows) requireUnused(row, engine);
  await endBrowsing(ids, force, engine);
  const { children, sessions } = lineWithout(ids, catalog);
  for (const { id } of children) store.requireKnown(id);
  // The store is the truth: first nothing in it refers to them.
  for (const { id, heldBy, parent, unchangedSince } of children) {
    if (heldBy === null) await writeManifest(id, engine, { parent, unchangedSince });
  }
  catalog.transaction(() => {
    for (const { id, parent, unchangedSince } of children) {
      catalog.updateCheckpoint(id, { parent, unchangedSince });
    }
    for (const { id, head, forkedFrom } of sessions) {
      catalog.updateSession(id, { head, forkedFrom });
    }
  });
  await removeCheckpoints(ids, engine);
  sweepStates(rows, engine);
  // They tell what differs from the parent.
  for (const { id, heldBy } of children) if (heldBy === null) scheduleStory(id, engine);
  return {
    removed: rows.map(({ id, name, sessionName }) => ({ id, name, sessionName })),
    reparented: children.map(({ id }) => id),
  };
}

/**
 * Removes the files that a session has now; its checkpoints stay, to restore and fork.
 *
 * @throws SESSION_WRONG_STATE  it runs.
 */
export async function removeFiles(
  { session: reference }: OperationParsedInput<"rm.files">,
  engine: Engine,
  client: StreamClient,
): Promise<OperationOutput<"rm.files">> {
  return await withSession(reference, engine, client, async (session) => {
    if (session.state === "running") {
      throw new WaypointError("SESSION_WRONG_STATE", `Session ${session.name} is running.`, {
        hint: `Remove files in it with \`waypoint exec --shell own ${session.name} -- rm …\`, or stop it first.`,
      });
    }
    const { instance } = session;
    // The row goes first: what a crash leaves of the files is then an orphan, removed at start.
    engine.catalog.updateSession(session.id, { instance: null });
    if (instance !== null) await removeInstance(instance, engine);
    engine.store.shares.sweepSoon();
    return describeSession({ ...session, instance: null }, engine);
  });
}

/** A session that still gets its memory from one would lose it. */
function requireNotFilling(ids: readonly string[], { catalog, filling }: Engine): void {
  for (const { id, fillingFrom } of catalog.instances()) {
    if (fillingFrom === null || !ids.includes(fillingFrom) || !filling.has(id)) continue;
    const hint =
      "Take a checkpoint of the session that `waypoint ls --json` tells to be `filling`.";
    throw inUse(fillingFrom, "a session is still getting its memory from it", hint);
  }
}

function requireUnused({ id, heldBy }: CheckpointRow, { catalog }: Engine): void {
  const anyway = "`waypoint rm --force` removes it all the same";
  const standing = catalog.sessions().find(({ head }) => head === id);
  if (standing !== undefined) {
    const hint = `${anyway}; the session then stands on the one before.`;
    throw inUse(id, `session ${standing.name} stands on it`, hint);
  }
  if (heldBy !== null) {
    const hint = `${anyway}, with the processes that are frozen in it.`;
    throw inUse(id, "a restore has left it frozen, and it is not captured yet", hint);
  }
  const operation = catalog.operations.all().findLast(({ undo }) => undo === id);
  if (operation === undefined || catalog.session(operation.session) === undefined) return;
  const hint = `${anyway}; the operation then cannot be undone.`;
  throw inUse(id, `the undo of operation ${operation.id} goes back to it`, hint);
}

function inUse(id: string, why: string, hint: string): WaypointError {
  return new WaypointError("CHECKPOINT_IN_USE", `Checkpoint ${id} is needed: ${why}.`, {
    hint,
    detail: { checkpoint: id },
  });
}

/** Runs `task` with the leases of all these sessions, taken in order so that two never wait. */
function withLeases<T>(
  sessionIds: readonly string[],
  waiting: { engine: Engine; signal: AbortSignal },
  task: () => Promise<T>,
): Promise<T> {
  const [first, ...others] = sessionIds;
  if (first === undefined) return task();
  const next = () => withLeases(others, waiting, task);
  return waiting.engine.leases.run(first, next, waiting.signal);
}
