import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isSystemError, type StateLayout } from "../base/index.ts";
import { explainDiskError, syncFilesystem } from "../kernel/index.ts";
import {
  createSnapshot,
  createSubvolume,
  deleteSubvolume,
  filesystemUuid,
  reclaimSpace,
} from "./btrfs-ioctl.ts";
import { type CheckpointPaths, ProcessImages } from "./process-images.ts";

/** Below this much free space nothing new is begun, so that what runs can go on. */
const FREE_BYTES_MIN = 64 * 1024 * 1024;
/** How long a full store may take to give back what was just removed from it. */
const RECLAIM_TIMEOUT_MS = 1_000;
const RECLAIM_POLL_INTERVAL_MS = 50;
/** Above this much unwritten data a checkpoint writes it out before it freezes anything. */
const DIRTY_BYTES_WORTH_FLUSHING = 8 * 1024 * 1024;

/** Where the files of a live instance lie. */
export interface InstancePaths {
  subvolumePath: string;
  upperDir: string;
  workDir: string;
}

/**
 * The btrfs filesystem that holds every session's files and every checkpoint, and the tmpfs in
 * front of it that takes process images at memory speed. docs/FORMAT.md describes the layout.
 */
export class Store {
  readonly images: ProcessImages;
  readonly #layout: StateLayout;
  readonly #instancesDir: string;
  readonly #checkpointsDir: string;
  readonly #sessionsDir: string;
  #uuid: string | undefined;

  constructor(layout: StateLayout) {
    this.#layout = layout;
    this.images = new ProcessImages(layout.imagesDir);
    this.#instancesDir = path.join(layout.storeDir, "instances");
    this.#checkpointsDir = path.join(layout.storeDir, "checkpoints");
    this.#sessionsDir = path.join(layout.storeDir, "sessions");
    mkdirSync(this.#sessionsDir, { recursive: true, mode: 0o700 });
    mkdirSync(this.#instancesDir, { recursive: true, mode: 0o700 });
    mkdirSync(this.#checkpointsDir, { recursive: true, mode: 0o700 });
  }

  instancePaths(instanceId: string): InstancePaths {
    const subvolumePath = path.join(this.#instancesDir, instanceId);
    return {
      subvolumePath,
      upperDir: path.join(subvolumePath, "upper"),
      workDir: path.join(subvolumePath, "work"),
    };
  }

  checkpointPaths(checkpointId: string): CheckpointPaths {
    const checkpointDir = path.join(this.#checkpointsDir, checkpointId);
    return {
      checkpointDir,
      snapshotPath: path.join(checkpointDir, "fs"),
      imagesDir: path.join(checkpointDir, "images"),
      memoryImagesDir: path.join(this.#layout.imagesDir, checkpointId),
      manifestPath: path.join(checkpointDir, "manifest.json"),
    };
  }

  /** Makes the empty subvolume of a new instance. @throws STORE_FULL */
  async createInstance(instanceId: string): Promise<InstancePaths> {
    await this.requireRoom("start a session");
    const paths = this.instancePaths(instanceId);
    return this.#orFull("start a session", () => {
      createSubvolume(paths.subvolumePath);
      mkdirSync(paths.upperDir);
      mkdirSync(paths.workDir);
      return paths;
    });
  }

  /**
   * Makes the subvolume of an instance from a checkpoint's files.
   *
   * The overlay's work directory is made anew: its index holds file handles of the old subvolume,
   * with which the kernel refuses the mount (docs/notes/overlayfs).
   */
  async createInstanceFrom(instanceId: string, checkpointId: string): Promise<InstancePaths> {
    const paths = this.instancePaths(instanceId);
    const { snapshotPath } = this.checkpointPaths(checkpointId);
    this.#orFull("restore a checkpoint", () =>
      createSnapshot(snapshotPath, paths.subvolumePath, { readOnly: false }),
    );
    try {
      await rm(paths.workDir, { recursive: true, force: true });
      await mkdir(paths.workDir);
      return paths;
    } catch (error) {
      throw explainDiskError(error, "restore a checkpoint");
    }
  }

  /** Removes an instance's files; succeeds when they are gone already. */
  deleteInstance(instanceId: string): void {
    const { subvolumePath } = this.instancePaths(instanceId);
    if (existsSync(subvolumePath)) deleteSubvolume(subvolumePath);
  }

  listInstances(): string[] {
    return readdirSync(this.#instancesDir);
  }

  /**
   * Makes the directories into which a checkpoint is captured.
   *
   * @returns where CRIU should write: memory where it has room for `expectedBytes`, else the store.
   */
  async prepareCheckpoint(checkpointId: string, expectedBytes: number): Promise<string> {
    await this.requireRoom("take a checkpoint");
    const paths = this.checkpointPaths(checkpointId);
    try {
      await mkdir(paths.checkpointDir, { mode: 0o700 });
      return await this.images.prepare(paths, expectedBytes);
    } catch (error) {
      throw explainDiskError(error, "take a checkpoint");
    }
  }

  /** Takes the read-only snapshot of a checkpoint whose processes are not captured. */
  snapshotInstance(instanceId: string, checkpointId: string): void {
    const { subvolumePath } = this.instancePaths(instanceId);
    const { snapshotPath } = this.checkpointPaths(checkpointId);
    this.#orFull("take a checkpoint", () =>
      createSnapshot(subvolumePath, snapshotPath, { readOnly: true }),
    );
  }

  /** Writes what is known of a session, atomically for readers; `null` removes it. */
  writeSession(sessionId: string, session: object | null): void {
    const filePath = path.join(this.#sessionsDir, `${sessionId}.json`);
    if (session === null) {
      rmSync(filePath, { force: true });
      return;
    }
    const unfinishedPath = `${filePath}.new`;
    this.#orFull("record a session", () => {
      writeFileSync(unfinishedPath, `${JSON.stringify(session, null, 2)}\n`, { mode: 0o600 });
      renameSync(unfinishedPath, filePath);
    });
  }

  /** Returns what was written of every session. */
  readSessions(): unknown[] {
    return readdirSync(this.#sessionsDir)
      .filter((name) => name.endsWith(".json"))
      .map((name) => JSON.parse(readFileSync(path.join(this.#sessionsDir, name), "utf8")));
  }

  /** Writes the manifest, atomically for readers. A checkpoint without one does not exist. */
  async writeManifest(checkpointId: string, manifest: object): Promise<void> {
    const { manifestPath } = this.checkpointPaths(checkpointId);
    const unfinishedPath = `${manifestPath}.new`;
    try {
      await writeFile(unfinishedPath, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
      await rename(unfinishedPath, manifestPath);
    } catch (error) {
      throw explainDiskError(error, "record a checkpoint");
    }
  }

  /** Returns the manifest, or `null` where there is none (a capture that never finished). */
  readManifest(checkpointId: string): unknown {
    try {
      return JSON.parse(readFileSync(this.checkpointPaths(checkpointId).manifestPath, "utf8"));
    } catch (error) {
      if (isSystemError(error, "ENOENT", "ENOTDIR")) return null;
      throw error;
    }
  }

  /** Makes a checkpoint survive a loss of power: its images move to the disk, which is synced. */
  async makeDurable(checkpointId: string): Promise<void> {
    await this.images.copyToStore(this.checkpointPaths(checkpointId));
    await this.sync();
  }

  /** Removes a checkpoint; succeeds when it is gone already. The manifest goes first. */
  async deleteCheckpoint(checkpointId: string): Promise<void> {
    const paths = this.checkpointPaths(checkpointId);
    await rm(paths.manifestPath, { force: true });
    if (existsSync(paths.snapshotPath)) deleteSubvolume(paths.snapshotPath);
    await rm(paths.memoryImagesDir, { recursive: true, force: true });
    await rm(paths.checkpointDir, { recursive: true, force: true });
  }

  async listCheckpoints(): Promise<string[]> {
    return readdir(this.#checkpointsDir);
  }

  /**
   * Writes out what is dirty in the store, when it is enough to lengthen the pause of a snapshot:
   * a snapshot writes the subvolume's dirty pages while the processes stand still.
   */
  async flushIfDirty(): Promise<void> {
    await this.requireRoom("take a checkpoint");
    if (this.#unwrittenBytes() > DIRTY_BYTES_WORTH_FLUSHING) await this.#flush();
  }

  /** Writes everything in the store to the disk. */
  async sync(): Promise<void> {
    await this.#flush();
    if (!existsSync(this.#layout.storeImagePath)) return;
    // The image's own blocks must reach the disk below it too.
    await using image = await open(this.#layout.storeImagePath, "r+");
    await image.sync();
  }

  async #flush(): Promise<void> {
    const fd = openSync(this.#layout.storeDir, "r");
    try {
      await syncFilesystem(fd);
    } catch (error) {
      throw explainDiskError(error, "write everything out");
    } finally {
      closeSync(fd);
    }
  }

  /** Space that btrfs has promised to data which is still in memory only. */
  #unwrittenBytes(): number {
    this.#uuid ??= filesystemUuid(this.#layout.storeDir);
    const file = `/sys/fs/btrfs/${this.#uuid}/allocation/data/bytes_may_use`;
    return Number(readFileSync(file, "utf8"));
  }

  /** Returns the space used and free; free is what both the store and the disk below it have. */
  usage(): { usedBytes: number; freeBytes: number } {
    const inside = statfsSync(this.#layout.storeDir);
    return {
      usedBytes: (inside.blocks - inside.bfree) * inside.bsize,
      freeBytes: Math.min(inside.bavail * inside.bsize, freeBytesOf(this.#layout.stateDir)),
    };
  }

  /** @throws STORE_FULL  when too little is free to begin anything. */
  async requireRoom(what: string): Promise<void> {
    if (this.usage().freeBytes >= FREE_BYTES_MIN) return;
    if (await this.reclaim()) return;
    throw explainDiskError(Object.assign(new Error("ENOSPC"), { code: "ENOSPC" }), what);
  }

  /**
   * Gets back the space of what was removed, which btrfs otherwise gives back at its leisure.
   *
   * @returns whether there is room to begin something now.
   */
  async reclaim(): Promise<boolean> {
    const endsAtMs = performance.now() + RECLAIM_TIMEOUT_MS;
    while (performance.now() < endsAtMs) {
      // Writing out to a disk that has no room would break the store.
      if (freeBytesOf(this.#layout.stateDir) < FREE_BYTES_MIN) return false;
      await this.#flush();
      reclaimSpace(this.#layout.storeDir);
      await delay(RECLAIM_POLL_INTERVAL_MS);
      if (this.usage().freeBytes >= FREE_BYTES_MIN) return true;
    }
    return false;
  }

  #orFull<T>(what: string, act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw explainDiskError(error, what);
    }
  }
}

function freeBytesOf(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}
