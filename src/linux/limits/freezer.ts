import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay, setImmediate } from "node:timers/promises";
import { isSystemError, pollUntil } from "../../base/index.ts";
import { parseMountInfo } from "../../formats/proc/index.ts";
import { mount } from "../kernel/index.ts";
import { removeGroup, removeGroupAside } from "./remove-group.ts";

/** Where version 2 of control groups is mounted for the daemon alone, if it is nowhere else. */
const OWN_MOUNT_DIR = "/run/waypoint/cgroup2";
const REMOVE_TIMEOUT_MS = 5_000;
const FREEZE_POLL_INTERVAL_MS = 1;
const LOOKS_WITHOUT_DELAY = 20;
/** A tree that starts processes all the time is looked at again until none is outside. */
const ENLIST_PASSES_MAX = 20;

/** Child of an instance's group in which its tree stands; who restores it works outside of it. */
const TREE_NAME = "tree";

/**
 * The control groups in which instances can be frozen: `waypoint-KEY/INSTANCE/tree` in version 2
 * of control groups, which every machine has beside version 1 or can mount. Where the limits are
 * of version 2 too, `waypoint-KEY/INSTANCE` has them, and what is in `tree` is under them.
 *
 * Frozen processes notice nothing, and can still be killed and traced.
 */
export class Freezer {
  readonly #parentDir: string;
  /**
   * Instances whose whole tree was seen in its group: what it starts is, too. A daemon that was killed while
   * it took a tree in has left some of it outside, so that a group with processes says nothing.
   */
  readonly #whole = new Set<string>();

  private constructor(parentDir: string) {
    this.#parentDir = parentDir;
  }

  /** Returns the freezer of `ownerKey`, `null` where the kernel or a container refuses one. */
  static open({ ownerKey }: { ownerKey: string }): Freezer | null {
    try {
      const parentDir = path.join(findMount() ?? mountOwn(), `waypoint-${ownerKey}`);
      mkdirSync(parentDir, { recursive: true, mode: 0o755 });
      const canFreeze = existsSync(path.join(parentDir, "cgroup.freeze"));
      removeGroup(parentDir);
      return canFreeze ? new Freezer(parentDir) : null;
    } catch {
      return null;
    }
  }

  /** Returns the directory of an instance's group. */
  groupDir(instanceId: string): string {
    return path.join(this.#parentDir, instanceId, TREE_NAME);
  }

  /** Makes an instance's group, frozen and empty, and returns the file that takes processes in. */
  makeFrozen(instanceId: string): string {
    mkdirSync(this.groupDir(instanceId), { recursive: true, mode: 0o755 });
    this.#set(instanceId, "1");
    return this.#file(instanceId, "cgroup.procs");
  }

  /**
   * Takes a running tree into its group, so that it can be frozen later.
   *
   * @param listPids  lists the tree, parents before their children.
   * @returns whether every process of it is in the group; those that it starts are, too.
   */
  enlist(instanceId: string, listPids: () => readonly number[]): boolean {
    mkdirSync(this.groupDir(instanceId), { recursive: true, mode: 0o755 });
    const tried = new Set<number>();
    for (let pass = 0; pass < ENLIST_PASSES_MAX; pass += 1) {
      const members = this.#members(instanceId);
      const outside = listPids().filter((pid) => !members.has(pid));
      if (outside.length === 0) {
        this.#whole.add(instanceId);
        return true;
      }
      // Of a process whose first thread has ended the kernel moves the others, and lists it nowhere.
      if (outside.every((pid) => tried.has(pid))) return false;
      for (const pid of outside) {
        this.#move(instanceId, pid);
        tried.add(pid);
      }
    }
    return false;
  }

  /** Tells whether all of a tree is in its group. */
  hasAll(instanceId: string, pids: readonly number[]): boolean {
    const members = this.#members(instanceId);
    const hasAll = pids.every((pid) => members.has(pid));
    if (hasAll) this.#whole.add(instanceId);
    return hasAll;
  }

  /** Tells whether an instance has a group, and all of its tree was seen in it. */
  holds(instanceId: string): boolean {
    return this.#whole.has(instanceId) && this.#members(instanceId).size > 0;
  }

  /** Freezes an instance. @returns whether all of it stood still in time; else it runs on. */
  async freeze(instanceId: string, timeoutMs: number): Promise<boolean> {
    const endsAtMs = performance.now() + timeoutMs;
    this.#set(instanceId, "1");
    for (let looks = 0; !this.isFrozen(instanceId); looks += 1) {
      if (performance.now() > endsAtMs) {
        this.thaw(instanceId);
        return false;
      }
      // Processes that only have to notice take microseconds, less than any timer.
      if (looks < LOOKS_WITHOUT_DELAY) await setImmediate();
      else await delay(FREEZE_POLL_INTERVAL_MS);
    }
    return true;
  }

  /** Has an instance stand still in a moment, and returns whether its group is there to do so. */
  stand(instanceId: string): boolean {
    try {
      this.#set(instanceId, "1");
      return true;
    } catch (error) {
      if (isSystemError(error, "ENOENT", "ENODEV")) return false;
      throw error;
    }
  }

  /** Lets an instance run on; succeeds when it was not frozen or is gone. */
  thaw(instanceId: string): void {
    const tree = this.groupDir(instanceId);
    // Daemons before there was a tree in it froze the instance's group itself.
    for (const directory of [tree, path.dirname(tree)]) {
      try {
        writeFileSync(path.join(directory, "cgroup.freeze"), "0");
      } catch (error) {
        if (!isSystemError(error, "ENOENT", "ENODEV")) throw error;
      }
    }
  }

  /** Tells whether every process of an instance's group stands still. */
  isFrozen(instanceId: string): boolean {
    return /^frozen 1$/m.test(this.#read(instanceId, "cgroup.events"));
  }

  /** Lists the instances that have a group, whoever made it. */
  list(): string[] {
    if (!existsSync(this.#parentDir)) return [];
    const entries = readdirSync(this.#parentDir, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  }

  /** Removes an instance's group. Idempotent. **Requires** its processes have ended. */
  async remove(instanceId: string): Promise<void> {
    this.#whole.delete(instanceId);
    const directory = this.groupDir(instanceId);
    // The kernel lets go of a process a moment after its end was told.
    await pollUntil(
      `${directory} to be empty`,
      { timeoutMs: REMOVE_TIMEOUT_MS, intervalMs: 5 },
      async () => ((await removeGroupAside(directory)) ? true : undefined),
    );
    await removeGroupAside(path.dirname(directory));
    await removeGroupAside(this.#parentDir);
  }

  #members(instanceId: string): Set<number> {
    return new Set(this.#read(instanceId, "cgroup.procs").split("\n").filter(Boolean).map(Number));
  }

  #move(instanceId: string, pid: number): void {
    try {
      writeFileSync(this.#file(instanceId, "cgroup.procs"), String(pid));
    } catch (error) {
      // It has ended, or is a zombie, which is in no group.
      if (!isSystemError(error, "ESRCH")) throw error;
    }
  }

  #set(instanceId: string, value: "0" | "1"): void {
    writeFileSync(this.#file(instanceId, "cgroup.freeze"), value);
  }

  #read(instanceId: string, file: string): string {
    try {
      return readFileSync(this.#file(instanceId, file), "utf8");
    } catch (error) {
      if (isSystemError(error, "ENOENT", "ENODEV")) return "";
      throw error;
    }
  }

  #file(instanceId: string, file: string): string {
    return path.join(this.groupDir(instanceId), file);
  }
}

function findMount(): string | undefined {
  const mounts = parseMountInfo(readFileSync("/proc/self/mountinfo", "utf8"));
  return mounts.find(({ type }) => type === "cgroup2")?.mountPoint;
}

function mountOwn(): string {
  mkdirSync(OWN_MOUNT_DIR, { recursive: true, mode: 0o755 });
  mount("none", OWN_MOUNT_DIR, "cgroup2", 0, null);
  return OWN_MOUNT_DIR;
}
