import { existsSync, readFileSync, realpathSync } from "node:fs";
import type { StateLayout } from "../../base/index.ts";
import { type MountEntry, parseMountInfo } from "../../formats/proc/index.ts";
import { ERROR_REGISTRY, toWaypointError, WaypointError } from "../../shared/errors/index.ts";
import { mountedAt } from "../kernel/index.ts";

const BTRFS_MAGIC = 0x9123683e;

/** Whether a store can be written to, and why not. */
export interface StoreState {
  /** `unusable`: it could not be mounted, and nothing of it can be read. */
  state: "writable" | "read-only" | "unusable";
  reason: string | null;
}

const TURNED_READ_ONLY =
  "btrfs has made it read-only after an error, or what lies below it is read-only";

/** What a store can be used for at each moment: it may turn read-only while the daemon runs. */
export class StoreHealth {
  readonly #layout: StateLayout;
  readonly #mountFailure: string | null;

  /** @param mountFailure  what was said when it was mounted, where that failed at first. */
  constructor(layout: StateLayout, mountFailure: string | null) {
    this.#layout = layout;
    this.#mountFailure = mountFailure;
  }

  now(): StoreState {
    // One call, since it is asked before each operation; the list of mounts grows with the sessions.
    const mounted = whatIsAt(this.#layout.storeDir);
    if (mounted?.type !== BTRFS_MAGIC) return { state: "unusable", reason: this.#mountFailure };
    if (!mounted.isReadOnly) return { state: "writable", reason: null };
    return { state: "read-only", reason: this.#mountFailure ?? TURNED_READ_ONLY };
  }

  /** @throws STORE_FAILED  it is read-only, or not there at all. */
  requireWritable(what: string): void {
    const now = this.now();
    if (now.state !== "writable") throw this.#failed(now, `, so it is not possible to ${what}`);
  }

  /** Returns what was thrown; where nobody expected it and the store is broken, it says that instead. */
  explain(thrown: unknown): WaypointError {
    const error = toWaypointError(thrown);
    const { kind } = ERROR_REGISTRY[error.code];
    const isExplained = error.code === "STORE_FAILED" && error.detail["storeState"] !== undefined;
    const mayCome =
      kind === "internal" || kind === "tool" || error.code === "CHECKPOINT_INCOMPLETE";
    if (isExplained || !mayCome) return error;
    const now = this.now();
    return now.state === "writable" ? error : this.#failed(now, "", error);
  }

  #failed({ state, reason }: StoreState, consequence: string, cause?: WaypointError) {
    const { storeImagePath, storeDir } = this.#layout;
    const is = state === "read-only" ? "is read-only" : "cannot be mounted";
    const failure = cause === undefined ? {} : { failure: cause.message };
    return new WaypointError("STORE_FAILED", `The store of Waypoint ${is}${consequence}.`, {
      hint: `${reason ?? "It failed"}. Look at the disk below ${storeImagePath}, at its free space and at \`dmesg\`; \`waypoint daemon stop --sessions\` ends all that runs, and the next command mounts the store again. Durable checkpoints are still in it.`,
      detail: { storeState: state, reason, storeImagePath, storeDir, ...failure },
      ...(cause === undefined ? {} : { cause }),
    });
  }
}

function whatIsAt(directory: string): ReturnType<typeof mountedAt> | null {
  try {
    return mountedAt(directory);
  } catch {
    return null;
  }
}

/** Returns the mount that holds `directory`, whatever links lead there. */
export function mountOf(directory: string): MountEntry | undefined {
  const place = existsSync(directory) ? realpathSync(directory) : directory;
  return findMount(parseMountInfo(readFileSync("/proc/self/mountinfo", "utf8")), place);
}

/** Finds the mount that holds a directory: the longest, the last of those. */
export function findMount(
  mounts: readonly MountEntry[],
  directory: string,
): MountEntry | undefined {
  let found: MountEntry | undefined;
  for (const each of mounts) {
    const prefix = each.mountPoint === "/" ? "/" : `${each.mountPoint}/`;
    if (!`${directory}/`.startsWith(prefix)) continue;
    if (each.mountPoint.length >= (found?.mountPoint.length ?? 0)) found = each;
  }
  return found;
}
