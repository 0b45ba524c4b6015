import { existsSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import path from "node:path";
import { SerialQueues } from "../../base/index.ts";
import { explainDiskError } from "../kernel/index.ts";
import { createSnapshot, createSubvolume, deleteSubvolume, setReadOnly } from "./btrfs-ioctl.ts";
import { compareSubvolumes, type SubvolumePair } from "./compare-subvolumes.ts";
import { highestInode } from "./highest-inode.ts";
import { inodePaths } from "./inode-paths.ts";
import {
  type InstancePaths,
  insidePathOf,
  instancePathsOf,
  type LayerPaths,
  layerPathsOf,
  makeLayers,
} from "./instance-layers.ts";
import type { SubvolumeChanges } from "./send-difference.ts";

/** A subvolume made to be read and thrown away; disposing of it removes it. */
export interface ScratchSubvolume extends AsyncDisposable, InstancePaths {
  /** Returns where the layers of the nth overlay besides the root's lie. */
  mountPaths: (number: number) => LayerPaths;
}

/** A comparison that is under way. */
interface Reading {
  paths: readonly string[];
  removal: AbortController;
  settled: Promise<void>;
}

/** What is read of snapshots, and the throw-away subvolumes that reading needs. */
export class Snapshots {
  readonly #scratchDir: string;
  readonly #instancesDir: string;
  readonly #readings = new Set<Reading>();
  /** A comparison takes a thread of the few there are; one at a time leaves the others. */
  readonly #turns = new SerialQueues();

  constructor(storeDir: string) {
    this.#scratchDir = path.join(storeDir, "scratch");
    this.#instancesDir = path.join(storeDir, "instances");
    mkdirSync(this.#scratchDir, { recursive: true, mode: 0o700 });
  }

  exists(snapshotPath: string): boolean {
    return existsSync(snapshotPath);
  }

  /** Returns the highest inode number in a snapshot: what was made later has a higher one. */
  highestInode(snapshotPath: string): number {
    return highestInode(snapshotPath);
  }

  /**
   * Returns all names of a socket's file inside the session, each byte as one character ("latin1").
   *
   * @param mountPoints  of the overlays besides the root's
   */
  socketNames(snapshotPath: string, inode: number, mountPoints: readonly string[]): string[] {
    return inodePaths(snapshotPath, inode).flatMap((name) => {
      const raw = Buffer.concat([Buffer.from(`${snapshotPath}/`), Buffer.from(name, "latin1")]);
      const inside = insidePathOf(name, mountPoints);
      return inside !== null && lstatSync(raw).isSocket() ? [inside] : [];
    });
  }

  /** Takes a read-only snapshot of an instance's files as they are now. @throws STORE_FULL */
  ofInstance(instanceId: string, id: string): ScratchSubvolume {
    const source = path.join(this.#instancesDir, instanceId);
    const target = path.join(this.#scratchDir, id);
    try {
      createSnapshot(source, target, { readOnly: true });
    } catch (error) {
      throw explainDiskError(error, "read a session's files");
    }
    return this.#scratch(target);
  }

  /**
   * Makes a read-only subvolume with layers that `fill` fills. **On failure** nothing is left.
   *
   * @throws STORE_FULL
   */
  filled(
    id: string,
    mountCount: number,
    fill: (scratch: ScratchSubvolume) => void,
  ): ScratchSubvolume {
    const target = path.join(this.#scratchDir, id);
    try {
      createSubvolume(target);
    } catch (error) {
      throw explainDiskError(error, "read a session's files");
    }
    const scratch = this.#scratch(target);
    try {
      makeLayers(scratch, mountCount);
      fill(scratch);
      setReadOnly(target);
      return scratch;
    } catch (error) {
      deleteSubvolume(target);
      throw explainDiskError(error, "read a session's files");
    }
  }

  /**
   * Finds where two read-only subvolumes differ, in time proportional to what has changed in each
   * since their common ancestor.
   *
   * It ends early when one of them is about to be removed ({@link release}) or `signal` aborts.
   *
   * @throws STORE_FAILED
   */
  async compare(pair: SubvolumePair, signal: AbortSignal): Promise<SubvolumeChanges> {
    const removal = new AbortController();
    const settled = Promise.withResolvers<void>();
    const paths = Object.values(pair).filter((each): each is string => each !== null);
    const reading: Reading = { paths, removal, settled: settled.promise };
    this.#readings.add(reading);
    try {
      const both = AbortSignal.any([signal, removal.signal]);
      return await this.#turns.run("compare", () => compareSubvolumes(pair, both));
    } finally {
      this.#readings.delete(reading);
      settled.resolve();
    }
  }

  /** Ends what reads a snapshot: the kernel removes none that is being compared. */
  async release(snapshotPath: string): Promise<void> {
    const readings = [...this.#readings].filter(({ paths }) => paths.includes(snapshotPath));
    for (const { removal } of readings) removal.abort(new Error("a snapshot was removed"));
    await Promise.all(readings.map(({ settled }) => settled));
  }

  /** Resolves when no comparison is under way. */
  async settled(): Promise<void> {
    await Promise.all([...this.#readings].map(({ settled }) => settled));
  }

  /** Removes what a killed process has left of throw-away subvolumes whose id begins so. */
  removeScratch(idStart = ""): void {
    const names = readdirSync(this.#scratchDir).filter((name) => name.startsWith(idStart));
    for (const name of names) deleteSubvolume(path.join(this.#scratchDir, name));
  }

  #scratch(subvolumePath: string): ScratchSubvolume {
    const paths = instancePathsOf(subvolumePath);
    return {
      ...paths,
      mountPaths: (number) => layerPathsOf(paths, number),
      [Symbol.asyncDispose]: async () => {
        await this.release(subvolumePath);
        deleteSubvolume(subvolumePath);
      },
    };
  }
}
