import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import {
  type CgroupMounts,
  type Controller,
  isSystemError,
  pollUntil,
  readCgroupMounts,
  settleAll,
} from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { EnteringSoon } from "./entering-soon.ts";
import {
  type CgroupLimits,
  cpuUnlimited,
  type LimitSetting,
  limitSettings,
} from "./limit-settings.ts";
import { removeGroup, removeGroupAside } from "./remove-group.ts";

export type { CgroupLimits } from "./limit-settings.ts";

/** How often processes have come up against a limit. */
export interface CgroupHits {
  memory: number;
  pids: number;
  /** Time for which processes had to wait for their share of the processors, added up. */
  cpuHeldBackMs: number;
}

const REMOVE_TIMEOUT_MS = 5_000;
/** What CRIU starts beside the processes that it restores, and some more. */
const CRIU_PIDS = 64;
/** No instance is named so. */
const PROBE_ID = "probe";

/**
 * The control groups of this state directory's sessions: `waypoint-KEY/INSTANCE` below each
 * controller that a limit needs. A session without limits has none.
 */
export class LimitsHost {
  readonly #mounts: CgroupMounts;
  readonly #parentName: string;
  readonly #enteringSoon = new EnteringSoon();

  private constructor(mounts: CgroupMounts, parentName: string) {
    this.#mounts = mounts;
    this.#parentName = parentName;
  }

  static open({ ownerKey }: { ownerKey: string }): LimitsHost {
    return new LimitsHost(readCgroupMounts(), `waypoint-${ownerKey}`);
  }

  /** Tells whether this machine holds to limits: it is tried with a group that goes at once. */
  async canHold(limits: CgroupLimits): Promise<boolean> {
    try {
      await this.create(PROBE_ID, limits);
      this.apply(PROBE_ID, limits);
      return true;
    } catch {
      return false;
    } finally {
      for (const directory of [...this.#places(PROBE_ID), ...this.#parents()]) {
        if (existsSync(directory)) removeGroup(directory);
      }
    }
  }

  /**
   * Says that a process will enter a group soon, until the result is disposed of: to enter one
   * takes 0.1 ms then, instead of 10.
   */
  prepareToEnter(limits: CgroupLimits): Disposable {
    const [first] = limitSettings(this.#mounts.version, limits);
    if (first === undefined) return { [Symbol.dispose]: () => {} };
    return this.#enteringSoon.begin(this.#mounts, first.controller);
  }

  /**
   * Makes the groups of an instance, without limits yet, and returns the files that take a
   * process in. CRIU needs more processes, memory and time than what it restores; the processes are
   * limited all the same, for a fork bomb would be a thousand times larger when CRIU has finished.
   *
   * **On failure** what was made stays until {@link remove}.
   *
   * @throws HOST_UNSUPPORTED  the machine has no controller for a limit.
   */
  async create(instanceId: string, limits: CgroupLimits): Promise<string[]> {
    const settings = limitSettings(this.#mounts.version, limits);
    const controllers = [...new Set(settings.map(({ controller }) => controller))];
    const made = await settleAll(controllers.map((each) => this.#make(instanceId, each)));
    const directories = new Set(made);
    if (limits.pidsLimit !== null) {
      const pidsLimit = limits.pidsLimit + CRIU_PIDS;
      this.apply(instanceId, { memoryLimitBytes: null, cpuLimit: null, pidsLimit });
    }
    return [...directories].map((directory) => path.join(directory, "cgroup.procs"));
  }

  /** Sets the limits of an instance whose groups are made. @throws HOST_UNSUPPORTED */
  apply(instanceId: string, limits: CgroupLimits): void {
    for (const setting of limitSettings(this.#mounts.version, limits)) {
      this.#apply(instanceId, setting);
    }
  }

  /**
   * Lets an instance use the processors freely until the result is disposed of. A dump runs
   * code inside the processes, which a small share would make a long pause.
   */
  liftCpu(instanceId: string, { cpuLimit }: Pick<CgroupLimits, "cpuLimit">): Disposable {
    if (cpuLimit !== null) this.#apply(instanceId, cpuUnlimited(this.#mounts.version));
    return { [Symbol.dispose]: () => this.applyCpu(instanceId, { cpuLimit }) };
  }

  /** Sets the share of the processors again, where the session has not ended. Idempotent. */
  applyCpu(instanceId: string, { cpuLimit }: Pick<CgroupLimits, "cpuLimit">): void {
    const only = { memoryLimitBytes: null, pidsLimit: null };
    if (this.list().includes(instanceId)) this.apply(instanceId, { ...only, cpuLimit });
  }

  /** Returns what an instance has come up against; `null` where it has no limits. */
  hits(instanceId: string): CgroupHits | null {
    const places = this.#places(instanceId).filter((directory) => existsSync(directory));
    if (places.length === 0) return null;
    const count = (file: string, key: string) =>
      Math.max(0, ...places.map((place) => valueOfKey(readOr(path.join(place, file), ""), key)));
    const memoryFile = this.#mounts.version === 1 ? "memory.oom_control" : "memory.events";
    const heldBackMs =
      this.#mounts.version === 1
        ? count("cpu.stat", "throttled_time") / 1e6
        : count("cpu.stat", "throttled_usec") / 1e3;
    return {
      memory: count(memoryFile, "oom_kill"),
      pids: count("pids.events", "max"),
      cpuHeldBackMs: Math.round(heldBackMs),
    };
  }

  /** Lists the instances that have groups, whoever made them. */
  list(): string[] {
    const found = this.#parents().flatMap((parent) => {
      if (!existsSync(parent)) return [];
      const entries = readdirSync(parent, { withFileTypes: true });
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    });
    return [...new Set(found)];
  }

  /** Removes an instance's groups. Idempotent. **Requires** its processes have ended. */
  async remove(instanceId: string): Promise<void> {
    for (const directory of this.#places(instanceId)) {
      // The kernel lets go of a process a moment after its end was told.
      await pollUntil(
        `${directory} to be empty`,
        { timeoutMs: REMOVE_TIMEOUT_MS, intervalMs: 5 },
        async () => ((await removeGroupAside(directory)) ? true : undefined),
      );
    }
    for (const parent of this.#parents()) await removeGroupAside(parent);
  }

  async #make(instanceId: string, controller: Controller): Promise<string> {
    const parent = this.#parentOf(controller);
    if (parent === null) {
      throw new WaypointError("HOST_UNSUPPORTED", `This machine cannot limit ${controller}.`, {
        hint: `Its kernel offers no control group for ${controller}; leave that limit out.`,
        detail: { controller },
      });
    }
    const directory = path.join(parent, instanceId);
    // The kernel waits for others who make and remove groups.
    await mkdir(directory, { recursive: true, mode: 0o755 });
    // After that, since somebody may remove a parent that has no child.
    if (this.#mounts.version === 2) this.#delegate(parent, controller);
    return directory;
  }

  /** In version 2 a group has only the controllers that those above it hand down. */
  #delegate(parent: string, controller: Controller): void {
    for (const directory of [path.dirname(parent), parent]) {
      writeFileSync(path.join(directory, "cgroup.subtree_control"), `+${controller}`);
    }
  }

  #apply(instanceId: string, { controller, file, value, isOptional }: LimitSetting): void {
    const filePath = path.join(this.#parentOf(controller) ?? "", instanceId, file);
    if (isOptional === true && !existsSync(filePath)) return;
    try {
      writeFileSync(filePath, value);
    } catch (cause) {
      throw new WaypointError("HOST_UNSUPPORTED", `The kernel refused a limit: ${file} ${value}.`, {
        hint: "Choose another value, or leave that limit out.",
        detail: { controller, file, value },
        cause,
      });
    }
  }

  #places(instanceId: string): string[] {
    return this.#parents().map((parent) => path.join(parent, instanceId));
  }

  #parents(): string[] {
    const directories = new Set(Object.values(this.#mounts.directories));
    return [...directories].map((directory) => path.join(directory, this.#parentName));
  }

  #parentOf(controller: Controller): string | null {
    const directory = this.#mounts.directories[controller];
    return directory === undefined ? null : path.join(directory, this.#parentName);
  }
}

/** Reads a line "key value". */
function valueOfKey(text: string, key: string): number {
  const line = text.split("\n").find((each) => each.startsWith(`${key} `));
  return Number(line?.split(" ")[1] ?? 0);
}

function readOr(filePath: string, fallback: string): string {
  try {
    return readFileSync(filePath, "utf8");
  } catch (error) {
    if (isSystemError(error, "ENOENT", "ENODEV")) return fallback;
    throw error;
  }
}
