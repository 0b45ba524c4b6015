import type { TrackedDump } from "../../linux/criu/index.ts";
import type { CheckpointPaths } from "../../linux/store/index.ts";
import type { CheckpointRow } from "../../portable/model/index.ts";
import { hasCode } from "../../shared/errors/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { roundMs } from "./checkpoint-row.ts";
import { type Dumped, dumpOptions, IMAGES_OVERHEAD_BYTES } from "./dump-options.ts";
import { planTracked } from "./tracked-dump.ts";
import type { UnfilledDump } from "./unfilled-dump.ts";

/** What was written of large memory is less, but for programs that write all of it. */
const WRITTEN_SHARE_MAX = 1 / 4;

interface DumpChoice {
  frozenIn?: string | undefined;
  unfilled?: UnfilledDump | null;
  around?: AroundDump;
}

/** What is done around each run of CRIU, of which there may be a second one. */
export interface AroundDump {
  /** Right before it: lets go of the instance. */
  begin: () => Promise<void>;
  /** All is captured, and the programs run again; the images are not complete yet. */
  captured: () => void;
}

/**
 * Dumps an instance's processes and snapshots its files, as parts of a checkpoint.
 *
 * The images go to memory, or to the store where memory has no room.
 *
 * **Requires** the daemon has no connection into it from `how.around.begin` to `captured`.
 *
 * @param how.frozenIn  its control group, if it stands frozen in it and is to stay so.
 * @param how.unfilled  what it has not got of its memory yet. @defaultValue it has all
 * @param how.around  @defaultValue nothing is to be done
 * @throws CRIU_DUMP_FAILED | STORE_FULL | STORE_FAILED
 */
export async function dumpInstance(
  session: Dumped,
  live: Pick<LiveInstance, "instanceId" | "pid">,
  id: string,
  engine: Engine,
  { frozenIn, unfilled = null, around }: DumpChoice = {},
): Promise<Pick<CheckpointRow, "pauseMs" | "memoryBytes" | "pauseBytes">> {
  const { store, sandbox, criu } = engine;
  const memoryBytes = sandbox.treeMemoryBytes(live.pid);
  // A tree that stands already is on its way out; one that is not full is followed by its pages server.
  const isTracked = frozenIn === undefined && unfilled === null;
  const planned = isTracked ? await planTracked(live, id, memoryBytes, engine) : undefined;
  // Images that are durable by now would leave memory for those that come.
  using _reference = planned?.reference?.hold?.();
  const copiedBytes = unfilled?.copiedBytes ?? 0;
  const paths = store.checkpointPaths(id);
  const { how, copiedBytesMax } = await findPlace(
    unfilled?.dump ?? planned,
    {
      wholeBytes: memoryBytes + copiedBytes,
      writtenBytesMax: unfilled === null ? memoryBytes * WRITTEN_SHARE_MAX : memoryBytes,
    },
    { paths, engine },
  );
  const expectedBytes = copiedBytesMax + IMAGES_OVERHEAD_BYTES;
  const imagesDir = await store.prepareCheckpoint(id, expectedBytes);
  const frozen = frozenIn === undefined ? {} : { frozenIn };
  const isIntoMemory = imagesDir === paths.memoryImagesDir;
  const everything = planned === undefined ? undefined : { ...planned, reference: null };
  const tracked = inPlaceUnless(isIntoMemory, how);
  const dumpAll = async (directory: string) => {
    await unfilled?.fill();
    return await dumpInto(directory, everything);
  };
  const dumpInto = async (directory: string, how?: TrackedDump) => {
    await around?.begin();
    // It may have become more since room was made.
    const nowBytes = sandbox.treeMemoryBytes(live.pid);
    using lifted = new DisposableStack();
    lifted.use(engine.limits.liftCpu(live.instanceId, session));
    return await criu.dump({
      ...dumpOptions(session, live, { id, imagesDir: directory }, engine),
      ...frozen,
      ...(how === undefined ? {} : { tracked: how }),
      onCaptured: () => {
        lifted.dispose();
        around?.captured();
      },
      memoryBytes: nowBytes + copiedBytes + IMAGES_OVERHEAD_BYTES,
    });
  };
  // While CRIU starts, so that nothing waits for it.
  engine.warmMemory.makeWay(isIntoMemory ? copiedBytesMax : 0);
  try {
    const dumped = await dumpInto(imagesDir, tracked)
      .catch(async (error: unknown) => {
        if (!criu.isIncomplete(error)) throw error;
        engine.logger.warn("all memory is copied after all", { id, reason: String(error) });
        await store.deleteSnapshot(id);
        return await dumpAll(await store.images.beginAgain(paths));
      })
      .catch(async (error: unknown) => {
        if (!isIntoMemory || !hasCode(error, "STORE_FULL")) throw error;
        engine.logger.info("memory is full: images go to the store", { id });
        await store.deleteSnapshot(id);
        return await dumpAll(await store.images.prepareInStore(paths));
      });
    const pauseMs = roundMs(dumped.pauseMs);
    if (tracked === undefined) {
      return { pauseMs, memoryBytes: dumped.memoryBytes, pauseBytes: null };
    }
    if (tracked.socketPath !== null) await criu.noteWhole(tracked.socketPath, id);
    const { pauseBytes, memoryBytes: of } = dumped;
    engine.logger.info("memory copied in the pause", { id, copiedBytes: pauseBytes, of });
    return { pauseMs, memoryBytes: of, pauseBytes };
  } finally {
    engine.warmMemory.fill();
    store.images.settle(paths);
  }
}

interface Place {
  how: TrackedDump | undefined;
  /** What CRIU and the images take of memory. */
  copiedBytesMax: number;
}

/**
 * Finds out where the images are put together, and makes room in memory.
 *
 * What was not written comes from the store to the store, without a way through memory. Where memory has no room
 * for another copy of it, it goes from memory to the store behind the pause: CRIU would have to write there in it.
 *
 * @param bytes.wholeBytes  size of the complete images.
 * @param bytes.writtenBytesMax  what CRIU copies of them, where there is a reference.
 */
async function findPlace(
  asked: TrackedDump | undefined,
  { wholeBytes, writtenBytesMax }: { wholeBytes: number; writtenBytesMax: number },
  { paths, engine }: { paths: CheckpointPaths; engine: Engine },
): Promise<Place> {
  const { images } = engine.store;
  const makeRoom = (bytes: number) => engine.memoryImages.makeRoom(bytes + IMAGES_OVERHEAD_BYTES);
  const reference = asked?.reference ?? null;
  if (reference?.makeTarget != null) {
    await makeRoom(writtenBytesMax);
    return { how: asked, copiedBytesMax: writtenBytesMax };
  }
  await makeRoom(wholeBytes);
  const together = { how: asked, copiedBytesMax: wholeBytes };
  if (asked === undefined || reference === null) return together;
  if (images.hasRoomFor(wholeBytes + IMAGES_OVERHEAD_BYTES)) return together;
  const makeTarget = () => images.makeInStore(paths, null);
  const how = { ...asked, reference: { ...reference, makeTarget } };
  return { how, copiedBytesMax: writtenBytesMax };
}

/** Where CRIU writes to the store, the images are put together there. */
function inPlaceUnless(isIntoMemory: boolean, dump?: TrackedDump): TrackedDump | undefined {
  if (isIntoMemory || !dump?.reference) return dump;
  return { ...dump, reference: { ...dump.reference, makeTarget: null } };
}
