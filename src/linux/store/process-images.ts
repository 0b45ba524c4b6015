import { existsSync, rmSync } from "node:fs";
import { link, mkdir, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { explainDiskError } from "../kernel/index.ts";
import { AheadCopies } from "./ahead-copies.ts";
import { createSnapshot, createSnapshotAside, isSubvolume } from "./btrfs-ioctl.ts";
import type { CheckpointPaths } from "./checkpoint-paths.ts";
import { ComparedImages } from "./compared-images.ts";
import { copyImages } from "./copy-images.ts";
import { ImageRoom } from "./image-room.ts";
import {
  type Comparison,
  damagedError,
  findDamage,
  goneError,
  makeSums,
  type SumsBefore,
  type SumsPlace,
} from "./image-sums.ts";
import { type HeldImages, ImageUses } from "./image-uses.ts";
import { type ImagePrograms, linkFiles, makeDirInStore } from "./images-dir.ts";
import { spareMemoryBytes } from "./spare-memory.ts";

/** The first file that CRIU writes, and the one without which nothing can be restored. */
const INVENTORY = "inventory.img";

/** The process images of checkpoints, in memory first and in the store when there is time. */
export class ProcessImages {
  /** Copies of memory that come before a dump. */
  readonly ahead = new AheadCopies();
  /** The machine has restarted: what was in memory is gone, and of what was in the store all that had not reached the disk. */
  haveLostMemory = false;
  readonly #memoryDir: string;
  readonly #programs: ImagePrograms;
  /** Images that share another's blocks already, and which. */
  readonly #assembled = new Map<string, CheckpointPaths>();
  /** Those in the store of which it need not be found out again whether they are what was captured. */
  readonly #compared = new ComparedImages();
  readonly #room: ImageRoom;
  /** Who uses images in memory, by directory. */
  readonly #uses = new ImageUses();

  /** @param memoryDir  a tmpfs of bounded size, the budget. */
  constructor(memoryDir: string, programs: ImagePrograms) {
    this.#memoryDir = memoryDir;
    this.#room = new ImageRoom(memoryDir);
    this.#programs = programs;
  }

  /** Tells whether memory has room for images of a size, within the budget and the machine's own. */
  hasRoomFor(expectedBytes: number): boolean {
    return this.#room.hasFor(expectedBytes);
  }

  /**
   * Makes the directory that CRIU writes to: in memory where there is room, else in the store.
   *
   * {@link settle} gives back the room that was promised.
   */
  async prepare(paths: CheckpointPaths, expectedBytes: number): Promise<string> {
    const isRoom = this.hasRoomFor(expectedBytes);
    if (!isRoom) return makeDirInStore(paths.imagesDir);
    this.#room.promise(paths.memoryImagesDir, expectedBytes);
    await mkdir(paths.memoryImagesDir, { mode: 0o700 });
    return paths.memoryImagesDir;
  }

  /** Makes the directory in the store, for a dump that has found no room in memory after all. */
  async prepareInStore(paths: CheckpointPaths): Promise<string> {
    this.settle(paths);
    await rm(paths.memoryImagesDir, { recursive: true, force: true });
    return makeDirInStore(paths.imagesDir);
  }

  /** Makes the directory in the store for images that are put together there, of those of another one to begin with. */
  async makeInStore({ imagesDir }: CheckpointPaths, from: CheckpointPaths | null): Promise<string> {
    const before = from !== null && isSubvolume(from.imagesDir) ? from.imagesDir : null;
    await (before === null ? makeDirInStore(imagesDir) : createSnapshotAside(before, imagesDir));
    if (from !== null) this.#assembled.set(imagesDir, from);
    return imagesDir;
  }

  /** Removes images from the store that are not whole, or of which nobody knows that. */
  async discard({ imagesDir, changedPath }: CheckpointPaths): Promise<void> {
    this.#assembled.delete(imagesDir);
    this.#compared.forget(imagesDir);
    await rm(changedPath, { force: true });
    await rm(imagesDir, { recursive: true, force: true });
  }

  /** Removes all images of a checkpoint, wherever they are. */
  async remove(paths: CheckpointPaths): Promise<void> {
    await this.discard(paths);
    await rm(paths.memoryImagesDir, { recursive: true, force: true });
  }

  /** Removes what was put together and makes the directory in memory anew, for a dump of everything. */
  async beginAgain(paths: CheckpointPaths): Promise<string> {
    await this.remove(paths);
    await mkdir(paths.memoryImagesDir, { mode: 0o700 });
    return paths.memoryImagesDir;
  }

  /** Notes that a dump has ended: what it takes shows in the tmpfs itself. */
  settle({ memoryImagesDir }: CheckpointPaths): void {
    this.#room.settle(memoryImagesDir);
  }

  /**
   * Returns the directory with a checkpoint's process images, which stays where it is until the result
   * is disposed of.
   *
   * @param options.isUse  somebody may well ask for them again soon. @defaultValue true
   * @throws CHECKPOINT_INCOMPLETE
   */
  hold(paths: CheckpointPaths, { isUse = true } = {}): { imagesDir: string } & Disposable {
    const imagesDir = this.locate(paths);
    const hold = this.#uses.hold(paths.memoryImagesDir, isUse);
    return { imagesDir, [Symbol.dispose]: () => hold[Symbol.dispose]() };
  }

  /**
   * Returns the directory with a checkpoint's process images at this moment: whoever reads them has to
   * look again when they have moved to the store meanwhile.
   *
   * @throws CHECKPOINT_INCOMPLETE
   */
  locate(paths: CheckpointPaths): string {
    const { memoryImagesDir, imagesDir, checkpointDir } = paths;
    if (existsSync(path.join(memoryImagesDir, INVENTORY))) return memoryImagesDir;
    if (this.isInStore(paths)) return imagesDir;
    throw goneError(path.basename(checkpointDir), imagesDir);
  }

  isInStore({ imagesDir }: CheckpointPaths): boolean {
    return existsSync(path.join(imagesDir, INVENTORY));
  }

  /**
   * Notes what a checkpoint's images are, and returns the digest of that; `null` where they are gone.
   *
   * @throws STORE_FULL
   */
  async sum(paths: CheckpointPaths): Promise<string | null> {
    const isInMemory = existsSync(path.join(paths.memoryImagesDir, INVENTORY));
    if (!isInMemory && !this.isInStore(paths)) return null;
    using held = this.hold(paths, { isUse: false });
    const { imagesDir } = held;
    const place = this.#sumsPlace(paths, imagesDir);
    const makeInStore = async () => makeSums(place, await this.#sumsBefore(paths));
    try {
      if (isInMemory) return await makeSums(place);
      return await this.#compared.whenRight(imagesDir, makeInStore);
    } catch (error) {
      throw explainDiskError(error, "make a checkpoint durable");
    } finally {
      await rm(paths.changedPath, { force: true });
    }
  }

  /** Those of the images that these were put together from, where they are to be relied on. */
  async #sumsBefore({ imagesDir, changedPath }: CheckpointPaths): Promise<SumsBefore | null> {
    const reference = this.#assembled.get(imagesDir);
    if (reference === undefined || !(await this.#compared.isAsComparedThen(reference))) return null;
    return { changedPath, sumsPath: reference.sumsPath };
  }

  /**
   * Compares images with what was captured.
   *
   * @param imagesDir  where the caller holds them.
   * @param what.digest  what {@link sum} returned.
   * @throws CHECKPOINT_INCOMPLETE  names the image.
   */
  async requireUndamaged(
    paths: CheckpointPaths,
    { imagesDir, ...what }: { imagesDir: string } & Comparison,
  ): Promise<void> {
    const damage = await findDamage(this.#sumsPlace(paths, imagesDir), what);
    if (damage === null) return;
    throw damagedError(path.basename(paths.checkpointDir), damage, imagesDir);
  }

  /**
   * Compares images in the store with what was captured, unless they were and nothing was written to them since.
   *
   * @param how.isBackground  nobody waits for it. @defaultValue false
   * @throws CHECKPOINT_INCOMPLETE  as {@link requireUndamaged}.
   */
  async requireSound(
    paths: CheckpointPaths,
    digest: string,
    how: { isBackground?: boolean } = {},
  ): Promise<void> {
    const { imagesDir } = paths;
    if (await this.#compared.isAsCompared(paths)) return;
    await this.#compared.whenRight(imagesDir, async () => {
      await this.requireUndamaged(paths, { imagesDir, digest, part: "all", ...how });
      return digest;
    });
  }

  #sumsPlace({ sumsPath }: CheckpointPaths, imagesDir: string): SumsPlace {
    return { programPath: this.#programs.sumsProgramPath, imagesDir, sumsPath };
  }

  /**
   * Brings a checkpoint's images into the store; blocks that equal the reference's are shared.
   *
   * Idempotent; readers find the images in memory until the copy is whole and has reached the disk.
   *
   * @param reference  another checkpoint, whose images are in the store.
   * @param sync  writes the store to the disk.
   * @throws STORE_FULL  nothing of the copy is left.
   */
  async copyToStore(
    paths: CheckpointPaths,
    reference: CheckpointPaths | null,
    sync: () => Promise<void>,
  ): Promise<void> {
    const { memoryImagesDir, imagesDir, checkpointDir } = paths;
    const copy = { programPath: this.#programs.copyProgramPath, reference };
    try {
      if (!existsSync(memoryImagesDir)) {
        if (this.#assembled.delete(imagesDir)) return;
        // They are there already, with blocks of their own for everything.
        if (reference !== null && this.isInStore(paths)) {
          await copyImages({ ...copy, sourceDir: imagesDir, targetDir: imagesDir });
        }
        return;
      }
      if (existsSync(imagesDir)) return;
      const targetDir = path.join(checkpointDir, "images.new");
      await rm(targetDir, { recursive: true, force: true });
      makeDirInStore(targetDir);
      await copyImages({ ...copy, sourceDir: memoryImagesDir, targetDir });
      // Else a loss of power could leave the name without all of the bytes.
      await sync();
      await rename(targetDir, imagesDir);
    } catch (error) {
      await rm(path.join(checkpointDir, "images.new"), { recursive: true, force: true });
      throw explainDiskError(error, "make a checkpoint durable");
    }
  }

  /**
   * Gives a checkpoint the images of another one, which stay when that one is removed.
   *
   * Images never change: in memory they are the same files under two names, in the store a snapshot.
   */
  async share(paths: CheckpointPaths, from: CheckpointPaths): Promise<void> {
    using held = this.hold(from);
    const sourceDir = held.imagesDir;
    const isInMemory = sourceDir === from.memoryImagesDir;
    const targetDir = isInMemory ? paths.memoryImagesDir : paths.imagesDir;
    if (isSubvolume(sourceDir)) createSnapshot(sourceDir, targetDir, { readOnly: false });
    else await linkFiles(sourceDir, targetDir);
    if (existsSync(from.sumsPath)) await link(from.sumsPath, paths.sumsPath);
  }

  /** Tells whether the images leave the machine enough memory for everything else. */
  isMemorySpare(): boolean {
    return spareMemoryBytes() > 0;
  }

  /** Returns how much of the budget is used. */
  usage(): { usedBytes: number; budgetBytes: number } {
    return this.#room.usage();
  }

  /** Frees the memory of images that are in the store too, unless somebody holds them. */
  async forget(paths: CheckpointPaths): Promise<void> {
    const { imagesDir, memoryImagesDir } = paths;
    if (this.#uses.isHeld(memoryImagesDir) || !existsSync(imagesDir)) return;
    this.#uses.forget(memoryImagesDir);
    await this.drop(paths);
  }

  /** Removes images from memory, whoever holds them: for those that are damaged. */
  async drop({ memoryImagesDir }: CheckpointPaths): Promise<void> {
    // At once, so that nobody is sent to what is about to go.
    rmSync(path.join(memoryImagesDir, INVENTORY), { force: true });
    await rm(memoryImagesDir, { recursive: true, force: true });
  }

  /** Lists the checkpoints that have images in memory. */
  list(): Promise<string[]> {
    return readdir(this.#memoryDir);
  }

  /** Says how much memory the images of those checkpoints take that are complete, and how long ago they were of use. */
  async held(isComplete: (checkpointId: string) => boolean): Promise<HeldImages[]> {
    const ids = await this.list();
    this.#uses.forgetAllBut(ids);
    return ids
      .filter(isComplete)
      .flatMap((id) => this.#uses.measure(path.join(this.#memoryDir, id)) ?? []);
  }
}
