import { setTimeout as delay } from "node:timers/promises";
import type { CheckpointRow } from "../../portable/model/index.ts";
import { hasCode } from "../../shared/errors/index.ts";
import type { Engine } from "../ports/index.ts";
import { removeInstance } from "../session/index.ts";
import { writeManifest } from "./write-manifest.ts";

const QUEUE = "durable";
/** An hour in all. */
const RETRY_INTERVAL_MS = 1_000;
const RETRIES_MAX = 3_600;
/** Less is compared sooner than anybody asks for it. */
const COMPARED_BYTES_MIN = 64 * 1024 ** 2;

/**
 * Makes a checkpoint durable in the background: its images move into the store, which is synced.
 *
 * It gives way to what somebody waits for, and is tried again while the machine can start no program. Another failure
 * is logged and tried again when the daemon starts; the checkpoint stays `captured`.
 */
export function scheduleDurable(checkpointId: string, engine: Engine): void {
  void bringWithRetry(checkpointId, engine).catch((error: unknown) => {
    engine.logger.error("make durable", error, { checkpointId });
  });
}

async function bringWithRetry(checkpointId: string, engine: Engine): Promise<void> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await bringToStore(checkpointId, engine);
    } catch (error) {
      if (!hasCode(error, "PROCESSES_FULL") || retries >= RETRIES_MAX) throw error;
      if (retries === 0) engine.logger.warn("a checkpoint is made durable later", { checkpointId });
    }
    await delay(RETRY_INTERVAL_MS, undefined, { ref: false });
  }
}

/** Makes a checkpoint durable and resolves when it is. @throws STORE_FULL */
export async function makeDurable(checkpointId: string, engine: Engine): Promise<void> {
  using _hurried = engine.turns.hurry();
  await bringToStore(checkpointId, engine);
}

async function bringToStore(checkpointId: string, engine: Engine): Promise<void> {
  const askedAtMs = performance.now();
  // At once, whatever is being copied: only what has sums is compared with what was captured.
  const summed = sumImages(checkpointId, engine);
  await Promise.all([
    summed,
    engine.background.run(QUEUE, async () => {
      await summed;
      await engine.turns.turn(askedAtMs);
      await move(checkpointId, engine);
    }),
  ]);
}

async function move(checkpointId: string, engine: Engine): Promise<void> {
  const row = engine.catalog.checkpoint(checkpointId);
  if (row === undefined || row.stage === "durable" || row.heldBy !== null) return;
  if (row.imagesSums !== null) await writeManifest(checkpointId, engine);
  const { diskLimitBytes } = engine.catalog.session(row.session) ?? row;
  await engine.store.makeDurable(checkpointId, {
    reference: findReference(row, engine),
    owner: { sessionId: row.session, diskLimitBytes },
  });
  if (!isWhole(row, engine)) return;
  engine.catalog.updateCheckpoint(checkpointId, { stage: "durable" });
  void compareInStore(checkpointId, engine).catch((error: unknown) => {
    engine.logger.error("compare images in the store", error, { checkpointId });
  });
  await engine.memoryImages.trim();
}

/**
 * Compares large images in the store with what was captured, while nobody waits: the next checkpoint takes from
 * them what was not written, and would have to wait for that.
 */
async function compareInStore(checkpointId: string, engine: Engine): Promise<void> {
  const { catalog, store, settings } = engine;
  await engine.background.run(sumsQueue(checkpointId), async () => {
    const { imagesSums = null, memoryBytes = 0 } = catalog.checkpoint(checkpointId) ?? {};
    if (imagesSums === null || settings.trackMemory === null) return;
    if (memoryBytes < COMPARED_BYTES_MIN) return;
    const paths = store.checkpointPaths(checkpointId);
    await store.images.requireSound(paths, imagesSums, { isBackground: true });
  });
}

/** Notes what the images of a checkpoint are, unless that is known. */
async function sumImages(checkpointId: string, engine: Engine): Promise<void> {
  const { catalog, store } = engine;
  await engine.background.run(sumsQueue(checkpointId), async () => {
    const row = catalog.checkpoint(checkpointId);
    if (row === undefined || row.stage === "durable" || row.heldBy !== null) return;
    if (row.content === "files" || row.imagesSums !== null) return;
    const imagesSums = await store.images.sum(store.checkpointPaths(checkpointId));
    catalog.updateCheckpoint(checkpointId, { imagesSums });
  });
}

function sumsQueue(checkpointId: string): string {
  return `sums:${checkpointId}`;
}

/**
 * Removes checkpoints, after whatever is being made durable: both work in the same directories.
 *
 * **On failure** those that are in the catalog still are; of the others no daemon brings one back.
 */
export async function removeCheckpoints(ids: readonly string[], engine: Engine): Promise<void> {
  // Whose checkpoints all stay, such as a fork without any, does not wait for what is being copied.
  if (ids.length === 0) return;
  // Behind what is being copied, which is not to be put off for that.
  using _hurried = engine.turns.hurry();
  const holders = ids.flatMap((id) => engine.catalog.checkpoint(id)?.heldBy ?? []);
  // What had a manifest and no row would come back with the next daemon.
  for (const id of ids) await engine.store.removeManifest(id);
  for (const id of ids) engine.catalog.deleteCheckpoint(id);
  // Not while one of them is being dumped.
  await engine.background.run("held", async () => {
    for (const instanceId of holders) await removeInstance(instanceId, engine);
  });
  // A snapshot that is being read cannot be removed.
  for (const id of ids) await engine.stories.cancel(id);
  await Promise.all(ids.map((id) => engine.verifications.cancel(id)));
  await engine.background.run(QUEUE, () =>
    engine.stories.whileNotRead(ids, async () => {
      for (const id of ids) {
        await engine.background.run(sumsQueue(id), () => engine.store.deleteCheckpoint(id));
      }
    }),
  );
  engine.store.shares.sweepSoon();
}

/** Images that were lost with the machine's memory do not become durable by being missed. */
function isWhole(row: CheckpointRow, { store }: Engine): boolean {
  return row.content === "files" || store.images.isInStore(store.checkpointPaths(row.id));
}

/**
 * Finds the checkpoint whose images are most like those of `row`, and are in the store: the nearest
 * ancestor, that of a fork is in its origin, or else the newest one of the same session.
 */
function findReference(row: CheckpointRow, engine: Engine): string | null {
  if (row.content === "files") return null;
  const { catalog, store } = engine;
  const isUsable = (other: CheckpointRow) =>
    other.content === "full" && store.images.isInStore(store.checkpointPaths(other.id));
  let above = row.parent === null ? undefined : catalog.checkpoint(row.parent);
  while (above !== undefined && !isUsable(above)) {
    above = above.parent === null ? undefined : catalog.checkpoint(above.parent);
  }
  const sibling = () =>
    catalog.checkpoints(row.session).findLast((other) => other.id !== row.id && isUsable(other));
  return (above ?? sibling())?.id ?? null;
}
