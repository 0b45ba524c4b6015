import type { CheckpointRow } from "../../portable/model/index.ts";
import { hasCode } from "../../shared/errors/index.ts";
import { fromManifest, scheduleDurable, scheduleHeld, shownOfNewer } from "../checkpoint/index.ts";
import { resumeAllowLists } from "../contacts/index.ts";
import type { Engine } from "../ports/index.ts";
import { endInstance, removeInstance, resumeForwards } from "../session/index.ts";
import { indexMissingStories } from "../story/index.ts";
import { readVerifications } from "../verify/index.ts";
import { attempt } from "./attempt.ts";
import { rebuildSessions } from "./rebuild-sessions.ts";
import { reconnectSessions } from "./reconnect-sessions.ts";
import { settleStaleCriu } from "./stale-criu.ts";

/**
 * Finds what the last daemon left, however it ended, and makes it whole again.
 *
 * Live sessions are connected to; what was half-made is removed; a checkpoint whose manifest was
 * written gets its row, one without is gone.
 */
export async function recover(engine: Engine): Promise<void> {
  // A store that is broken or full must not keep a daemon from starting: only it can end sessions.
  const step = (what: string, work: () => unknown) => attempt(what, engine, work);
  await step("CRIU that was left", () => settleStaleCriu(engine));
  // Where nothing of the store can be read, all would seem to be gone.
  const isReadable = engine.store.health.now().state !== "unusable";
  if (isReadable) {
    await step("sessions without a row", () => rebuildSessions(engine));
    await step("checkpoints without a row", () => recoverCheckpoints(engine));
    await step("instances without a session", () => removeOrphans(engine));
  }
  await step("sessions that have ended", () => releaseEnded(engine));
  await step("frozen sessions", () => thawSessions(engine));
  await step("what sessions may reach", () => resumeAllowLists(engine));
  await step("live sessions", () => reconnectSessions(engine));
  await step("forwarded ports", () => resumeForwards(engine));
  if (!isReadable) return;
  await step("checkpoints that are held", () => scheduleAllHeld(engine));
  engine.standbys.refresh();
  // What a killed daemon mounted for users may show a throw-away snapshot.
  await step("browsed moments", () => engine.browses.endLeft());
  await step("bases half-made", () => engine.store.bases.sweep());
  await step("throw-away snapshots", () => engine.store.snapshots.removeScratch());
  // Nobody waits for old stories; the daemon is ready without them.
  void step("stories", () => indexMissingStories(engine));
}

function scheduleAllHeld(engine: Engine): void {
  for (const { id } of engine.catalog.heldCheckpoints()) scheduleHeld(id, engine);
}

/** A daemon that died in the middle of a restore may have left its session frozen. */
async function thawSessions(engine: Engine): Promise<void> {
  for (const { state, instance } of engine.catalog.sessions()) {
    if (state !== "running" || instance === null) continue;
    const thaw = () => engine.freezer?.thaw(instance);
    await attempt("a frozen session", engine, thaw, { instance });
  }
}

async function recoverCheckpoints(engine: Engine): Promise<void> {
  const { catalog, store } = engine;
  const kept = new Set<string>();
  for (const id of await store.listCheckpoints()) {
    if (catalog.checkpoint(id) !== undefined) continue;
    try {
      await recoverCheckpoint(id, engine);
    } catch (error) {
      // One unreadable checkpoint must not keep the daemon from starting; it is left for a look.
      kept.add(id);
      engine.logger.error("checkpoint not recovered", error, { id });
    }
  }
  for (const id of await store.images.list()) {
    if (catalog.checkpoint(id) !== undefined || kept.has(id)) continue;
    await attempt("images without a checkpoint", engine, () => store.deleteCheckpoint(id), { id });
  }
  for (const row of catalog.checkpoints()) {
    if (row.stage !== "captured" || row.heldBy !== null) continue;
    await attempt("images", engine, () => discardUncertain(row, engine), { id: row.id });
    if (isKnown(row.id, engine)) scheduleDurable(row.id, engine);
  }
}

/**
 * Removes images that went to the store at once, when the machine has restarted before they were durable: in place
 * of what had not reached the disk there may be old pages, or none. Only sums can tell.
 */
async function discardUncertain(row: CheckpointRow, { store, logger }: Engine): Promise<void> {
  const paths = store.checkpointPaths(row.id);
  if (!store.images.haveLostMemory || row.content === "files") return;
  if (!store.images.isInStore(paths) || (await areRight(row, store))) return;
  logger.warn("images that are not known to be whole are removed", { id: row.id });
  await store.images.discard(paths);
}

async function areRight({ id, imagesSums }: CheckpointRow, store: Engine["store"]) {
  if (imagesSums === null) return false;
  try {
    await store.images.requireSound(store.checkpointPaths(id), imagesSums);
    return true;
  } catch (error) {
    if (hasCode(error, "CHECKPOINT_INCOMPLETE")) return false;
    throw error;
  }
}

async function recoverCheckpoint(id: string, engine: Engine): Promise<void> {
  const { catalog, store } = engine;
  const manifest = store.readManifest(id);
  if (manifest === null) return await store.deleteCheckpoint(id);
  const row = rowOf(id, manifest, engine);
  const session = catalog.session(row.session);
  const isHead = row.trigger !== "before-restore" && session?.head === row.parent;
  // Both or none: of one that has its row nobody asks a second time.
  catalog.transaction(() => {
    catalog.insertCheckpoint(row);
    if (session !== undefined && isHead && !catalog.isNew) {
      catalog.updateSession(row.session, { head: id });
    }
  });
  await attempt("verifications", engine, () => readVerifications(id, engine), { id });
}

/** What a newer Waypoint has written is not written again. */
function isKnown(id: string, { store }: Engine): boolean {
  try {
    store.requireKnown(id);
    return true;
  } catch (error) {
    return !hasCode(error, "FORMAT_TOO_NEW");
  }
}

/** One of a newer Waypoint is shown, as far as it is understood, and refused when it is used. */
function rowOf(id: string, manifest: unknown, { logger }: Engine): CheckpointRow {
  try {
    return fromManifest(manifest);
  } catch (error) {
    const shown = hasCode(error, "FORMAT_TOO_NEW") ? shownOfNewer(manifest) : null;
    if (shown === null) throw error;
    logger.warn("a checkpoint of a newer Waypoint", { id });
    return shown;
  }
}

/** Removes every instance that no session refers to. */
async function removeOrphans(engine: Engine): Promise<void> {
  const { catalog, store, network, limits, logger } = engine;
  const wanted = new Set([
    ...catalog.sessions().map(({ instance }) => instance),
    ...catalog.heldCheckpoints().map(({ heldBy }) => heldBy),
  ]);
  const found = new Set([
    ...catalog.instances().map(({ id }) => id),
    ...store.listInstances(),
    ...(await network.list()),
    ...limits.list(),
    ...(engine.freezer?.list() ?? []),
  ]);
  const orphans = [...found].filter((instanceId) => !wanted.has(instanceId));
  // Most of them are networks that were made in advance, whose removal waits in the kernel.
  await Promise.all(
    orphans.map(async (instanceId) => {
      logger.info("removing an orphan", { instanceId });
      const remove = () => removeInstance(instanceId, engine);
      await attempt("an instance without a session", engine, remove, { instanceId });
    }),
  );
}

/** Finishes the end of sessions that the last daemon had noted, but not carried out. */
async function releaseEnded(engine: Engine): Promise<void> {
  const { catalog, sandbox, network, limits, logger } = engine;
  const networks = await network.list();
  const groups = [...limits.list(), ...(engine.freezer?.list() ?? [])];
  for (const { state, instance } of catalog.sessions()) {
    if (state === "running" || instance === null) continue;
    const holdsSomething =
      catalog.instance(instance)?.pid != null ||
      sandbox.isRootMounted(instance) ||
      networks.includes(instance) ||
      groups.includes(instance);
    if (!holdsSomething) continue;
    logger.info("finishing the end of a session", { instance });
    const end = () => endInstance(instance, engine);
    await attempt("a session that has ended", engine, end, { instance });
  }
}
