import { mkdirSync, readdirSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { requireKnownManifest, type StateLayout } from "../../base/index.ts";
import { explainDiskError } from "../kernel/index.ts";
import {
  createSnapshot,
  createSnapshotAside,
  createSubvolume,
  deleteSubvolumeAside,
  type FilesState,
  filesState,
  isSubvolume,
  lastChange,
} from "./btrfs-ioctl.ts";
import { CheckpointFile } from "./checkpoint-file.ts";
import type { CheckpointPaths } from "./checkpoint-paths.ts";
import { hasChangedInode, inodesBelow } from "./find-changed.ts";
import {
  type InstancePaths,
  instancePathsOf,
  type LayerPaths,
  layerPathsOf,
  makeLayers,
  makeLayersAt,
  renewWorkDirs,
} from "./instance-layers.ts";
import { readJsonNow, readSoundJsonNow, writeIndentedJson } from "./json-file.ts";
import { KeptBases } from "./kept-bases.ts";
import { replaceOwnFiles } from "./own-files.ts";
import { ProcessImages } from "./process-images.ts";
import { SessionFiles } from "./session-files.ts";
import { SessionShares, type ShareOwner } from "./session-shares.ts";
import { Snapshots } from "./snapshots.ts";
import type { StoreHealth } from "./store-health.ts";
import type { StorePrograms } from "./store-programs.ts";
import { StoreSpace } from "./store-space.ts";

/**
 * The btrfs filesystem that holds every session's files and every checkpoint, and the tmpfs in
 * front of it that takes process images at memory speed. docs/FORMAT.md describes the layout.
 */
export class Store {
  readonly images: ProcessImages;
  readonly snapshots: Snapshots;
  readonly stories: CheckpointFile;
  /** What the base had where checkpoints were first to change it. */
  readonly baseVersions: CheckpointFile;
  readonly verifications: CheckpointFile;
  readonly sessions: SessionFiles;
  /** Root filesystems that sessions can stand on and nobody changes. */
  readonly bases: KeptBases;
  readonly space: StoreSpace;
  readonly health: StoreHealth;
  /** What each session may take. */
  readonly shares: SessionShares;
  readonly #layout: StateLayout;
  readonly #instancesDir: string;
  readonly #checkpointsDir: string;

  constructor(layout: StateLayout, programs: StorePrograms, health: StoreHealth) {
    this.#layout = layout;
    this.health = health;
    this.shares = new SessionShares(layout, health);
    this.space = new StoreSpace(layout, this.shares, health);
    this.images = new ProcessImages(layout.imagesDir, programs);
    this.snapshots = new Snapshots(layout.storeDir);
    const dirOf = (id: string) => this.checkpointPaths(id).checkpointDir;
    this.stories = new CheckpointFile(dirOf, "story.json", "a checkpoint's story");
    this.baseVersions = new CheckpointFile(dirOf, "base-versions.json", "a checkpoint's story");
    this.verifications = new CheckpointFile(dirOf, "verifications.json", "a verification");
    this.#instancesDir = path.join(layout.storeDir, "instances");
    this.#checkpointsDir = path.join(layout.storeDir, "checkpoints");
    const sessionsDir = path.join(layout.storeDir, "sessions");
    this.sessions = new SessionFiles(sessionsDir);
    this.bases = new KeptBases(layout.storeDir, programs.shareProgramPath);
    for (const made of [sessionsDir, this.#instancesDir, this.#checkpointsDir]) {
      mkdirSync(made, { recursive: true, mode: 0o700 });
    }
  }

  instancePaths(instanceId: string): InstancePaths {
    return instancePathsOf(path.join(this.#instancesDir, instanceId));
  }

  /** Returns where the layers of the nth overlay besides the root's lie. */
  mountPaths(instanceId: string, number: number): LayerPaths {
    return layerPathsOf(this.instancePaths(instanceId), number);
  }

  /** Makes the empty layers of one more overlay of an instance. @throws STORE_FULL */
  makeMountLayers(instanceId: string, number: number): LayerPaths {
    const layers = this.mountPaths(instanceId, number);
    this.#orFull("mount a session", () => makeLayersAt(layers));
    return layers;
  }

  checkpointPaths(checkpointId: string): CheckpointPaths {
    const checkpointDir = path.join(this.#checkpointsDir, checkpointId);
    return {
      checkpointDir,
      snapshotPath: path.join(checkpointDir, "fs"),
      imagesDir: path.join(checkpointDir, "images"),
      memoryImagesDir: path.join(this.#layout.imagesDir, checkpointId),
      sumsPath: path.join(checkpointDir, "images.sums"),
      changedPath: path.join(checkpointDir, "images.changed"),
      manifestPath: path.join(checkpointDir, "manifest.json"),
    };
  }

  /** Makes the subvolume of a new instance, with empty layers. @throws STORE_FULL */
  async createInstance(instanceId: string, mountCount: number): Promise<InstancePaths> {
    await this.space.requireRoom("start a session");
    const paths = this.instancePaths(instanceId);
    return this.#orFull("start a session", () => {
      createSubvolume(paths.subvolumePath);
      makeLayers(paths, mountCount);
      return paths;
    });
  }

  /**
   * Makes the subvolume of an instance from a checkpoint's files.
   *
   * The overlays' work directories are made anew: their index holds file handles of the old
   * subvolume, with which the kernel refuses the mount (docs/notes/overlayfs).
   */
  async createInstanceFrom(instanceId: string, checkpointId: string): Promise<InstancePaths> {
    this.requireKnown(checkpointId);
    const paths = this.instancePaths(instanceId);
    const { snapshotPath } = this.checkpointPaths(checkpointId);
    try {
      await createSnapshotAside(snapshotPath, paths.subvolumePath);
      await renewWorkDirs(paths);
      return paths;
    } catch (error) {
      throw explainDiskError(error, "restore a checkpoint");
    }
  }

  /** Gives an instance Waypoint's own files of a checkpoint, whose processes have them open. */
  async takeOwnFiles(instanceId: string, checkpointId: string): Promise<void> {
    const { upperDir } = this.instancePaths(instanceId);
    const { snapshotPath } = this.checkpointPaths(checkpointId);
    await replaceOwnFiles(path.join(snapshotPath, "upper"), upperDir);
  }

  /** Removes an instance's files; succeeds when they are gone already. */
  async deleteInstance(instanceId: string): Promise<void> {
    const { subvolumePath } = this.instancePaths(instanceId);
    this.shares.forget(subvolumePath);
    await deleteSubvolumeAside(subvolumePath);
  }

  /** Counts an instance's files for a session; see {@link SessionShares}. */
  chargeInstance(instanceId: string, owner: ShareOwner): void {
    this.shares.charge(this.instancePaths(instanceId).subvolumePath, owner);
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
    await this.space.requireRoom("take a checkpoint", "keeping");
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

  /** Gives a checkpoint the files and images of another one, which each can lose by itself. */
  async shareCaptures(checkpointId: string, fromId: string): Promise<void> {
    const paths = this.checkpointPaths(checkpointId);
    const from = this.checkpointPaths(fromId);
    try {
      await mkdir(paths.checkpointDir, { mode: 0o700 });
      createSnapshot(from.snapshotPath, paths.snapshotPath, { readOnly: true });
      await this.images.share(paths, from);
    } catch (error) {
      throw explainDiskError(error, "take a checkpoint");
    }
  }

  /** Returns the number of a checkpoint's files, which is that of its instance until that changes. */
  filesOfCheckpoint(checkpointId: string): bigint {
    return lastChange(this.checkpointPaths(checkpointId).snapshotPath);
  }

  /** Returns the number of an instance's files: another after each change. */
  async filesOfInstance(instanceId: string): Promise<bigint> {
    if (this.space.unwrittenBytes() > 0) await this.space.flush();
    return lastChange(this.instancePaths(instanceId).subvolumePath);
  }

  /**
   * Tells whether a file of an instance was changed after a state of them, but for those that init
   * itself writes with every command. Writes everything out first.
   */
  async hasChangedFiles(instanceId: string, after: FilesState): Promise<boolean> {
    await this.space.flush();
    const { subvolumePath, upperDir } = this.instancePaths(instanceId);
    return hasChangedInode(subvolumePath, after, inodesBelow(`${upperDir}/run/waypoint`));
  }

  /** Returns the state of an instance's files; what is not written out yet may not show in it. */
  filesState(instanceId: string): FilesState {
    return filesState(this.instancePaths(instanceId).subvolumePath);
  }

  /** Returns the state of the files in a checkpoint. */
  filesStateOf(checkpointId: string): FilesState {
    return filesState(this.checkpointPaths(checkpointId).snapshotPath);
  }

  /** Removes the snapshot of a capture that is begun again. */
  async deleteSnapshot(checkpointId: string): Promise<void> {
    await deleteSubvolumeAside(this.checkpointPaths(checkpointId).snapshotPath);
  }

  /** Writes the manifest, atomically for readers. A checkpoint without one does not exist. */
  writeManifest(checkpointId: string, manifest: object): Promise<void> {
    const { manifestPath } = this.checkpointPaths(checkpointId);
    return writeIndentedJson(manifestPath, manifest, "record a checkpoint");
  }

  /** Has a checkpoint exist no more; what lies there is removed later. */
  async removeManifest(checkpointId: string): Promise<void> {
    await rm(this.checkpointPaths(checkpointId).manifestPath, { force: true });
  }

  /** Returns the manifest, or `null` where there is none (a capture that never finished). */
  readManifest(checkpointId: string): unknown {
    return readJsonNow(this.checkpointPaths(checkpointId).manifestPath);
  }

  /** Whoever opens a checkpoint asks here first. @throws FORMAT_TOO_NEW  a newer Waypoint wrote it. */
  requireKnown(checkpointId: string): void {
    const { manifestPath } = this.checkpointPaths(checkpointId);
    // A damaged one is not newer, and the catalog has what it said.
    requireKnownManifest(readSoundJsonNow(manifestPath), checkpointId);
  }

  /**
   * Makes a checkpoint survive a loss of power: its images move to the disk, which is synced.
   *
   * @param reference  a checkpoint whose images are in the store and probably similar.
   * @param owner  the session whose share the images count for.
   */
  async makeDurable(
    checkpointId: string,
    { reference, owner }: { reference: string | null; owner: ShareOwner },
  ): Promise<void> {
    const compared = reference === null ? null : this.checkpointPaths(reference);
    const paths = this.checkpointPaths(checkpointId);
    await this.images.copyToStore(paths, compared, () => this.space.sync());
    if (isSubvolume(paths.imagesDir)) this.shares.charge(paths.imagesDir, owner);
    await this.space.sync();
  }

  /** Removes a checkpoint; succeeds when it is gone already. The manifest goes first. */
  async deleteCheckpoint(checkpointId: string): Promise<void> {
    const paths = this.checkpointPaths(checkpointId);
    await this.removeManifest(checkpointId);
    await this.snapshots.release(paths.snapshotPath);
    await this.deleteSnapshot(checkpointId);
    await this.images.remove(paths);
    await rm(paths.checkpointDir, { recursive: true, force: true });
  }

  async listCheckpoints(): Promise<string[]> {
    return readdir(this.#checkpointsDir);
  }

  #orFull<T>(what: string, act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw explainDiskError(error, what);
    }
  }
}
