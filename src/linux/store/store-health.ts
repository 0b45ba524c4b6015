import { readFileSync } from "node:fs";
import type { StateLayout } from "../../base/index.ts";
import { ERROR_REGISTRY, toWaypointError, WaypointError } from "../../shared/errors/index.ts";

/** Whether a store can be written to, and why not. */
export interface StoreState {
  /** `unusable`: it could not be mounted, and nothing of it can be read. */
  state: "writable" | "read-only" | "unusable";
  reason: string | null;
}

/** One line of mountinfo, as far as it is needed. */
export interface MountedFilesystem {
  mountPoint: string;
  type: string;
  isReadOnly: boolean;
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
    const { type, isReadOnly } = mountOf(this.#layout.storeDir);
    if (type !== "btrfs") return { state: "unusable", reason: this.#mountFailure };
    if (!isReadOnly) return { state: "writable", reason: null };
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

/** Returns the filesystem that holds `directory`. */
export function mountOf(directory: string): MountedFilesystem {
  return findMount(readFileSync("/proc/self/mountinfo", "utf8"), directory);
}

/** Finds the mount that holds a directory in the text of mountinfo: the longest, the last of those. */
export function findMount(mountinfo: string, directory: string): MountedFilesystem {
  let found: MountedFilesystem = { mountPoint: "", type: "", isReadOnly: false };
  for (const line of mountinfo.trimEnd().split("\n")) {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , , escaped = "", options = ""] = before.split(" ");
    const [type = "", , superOptions = ""] = after.split(" ");
    const mountPoint = escaped.replace(/\\(\d{3})/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    );
    const prefix = mountPoint === "/" ? "/" : `${mountPoint}/`;
    if (!`${directory}/`.startsWith(prefix)) continue;
    if (mountPoint.length < found.mountPoint.length) continue;
    const isReadOnly = [options, superOptions].some((list) => list.split(",").includes("ro"));
    found = { mountPoint, type, isReadOnly };
  }
  return found;
}
