import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statfsSync } from "node:fs";
import path from "node:path";
import { isSystemError, type StateLayout } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { filesystemUuid, subvolumeId } from "./btrfs-ioctl.ts";
import { QuotaGroups } from "./btrfs-quota.ts";
import type { StoreHealth } from "./store-health.ts";

const MEBIBYTE = 1024 * 1024;
/** What one session may take of a store that says nothing else. */
const SHARE_DEFAULT = 0.5;
/** With less left of its share nothing new begins in a session. */
const LEFT_BYTES_MIN = MEBIBYTE;
/** What no session takes, so that all of them can be restored, captured and removed. */
const RESERVE_SHARE = 1 / 16;
/** Small stores need more in proportion: btrfs takes their space in chunks of a tenth. */
const RESERVE_BYTES_MIN = 256 * MEBIBYTE;
const RESERVE_SHARE_MAX = 1 / 3;
const RESERVE_BYTES_MAX = 8192 * MEBIBYTE;
/** With less left to all sessions together none is begun. */
const NEW_BYTES_MIN = 16 * MEBIBYTE;

/** Groups of what was removed are looked for together: a look reads one file of each subvolume's group. */
const SWEEP_DELAY_MS = 1_000;

const LEVEL_SESSION = 1n << 48n;
/** The one group that all sessions are members of. */
const ALL_SESSIONS = (2n << 48n) | 1n;

/** Whose share something counts for. */
export interface ShareOwner {
  sessionId: string;
  /** `null` for the default. */
  diskLimitBytes: number | null;
}

/** What a session takes of its share. */
export interface ShareUsage {
  usedBytes: number;
  shareBytes: number;
}

/**
 * What each session may take of the store, kept by btrfs's simple quotas: a write beyond it fails
 * with EDQUOT, in that session alone.
 *
 * What counts is all that the session's programs have written and that is still there, in its live
 * files or only in its checkpoints, and the process images of its checkpoints. Only programs are
 * held to it: images and the files of a restore are counted when they are made.
 */
export class SessionShares {
  /** False where the kernel has no simple quotas, or the store is not Waypoint's own filesystem. */
  readonly isEnforced: boolean;
  readonly #storeDir: string;
  readonly #groups: QuotaGroups;
  readonly #groupsDir: string;
  /** Whose share each instance counts for, of those that this daemon has charged. */
  readonly #chargedTo = new Map<string, bigint>();
  #sweeping: NodeJS.Timeout | null = null;

  constructor({ storeDir, storeImagePath }: StateLayout, health: StoreHealth) {
    this.#storeDir = storeDir;
    this.#groups = new QuotaGroups(storeDir);
    const isThere = health.now().state !== "unusable";
    this.#groupsDir = isThere ? `/sys/fs/btrfs/${filesystemUuid(storeDir)}/qgroups` : "";
    // Somebody's own filesystem is not ours to put quotas on.
    this.isEnforced = isThere && existsSync(storeImagePath) && this.#enable();
  }

  /** Returns what a session may take: what it was given, or the default. */
  shareBytes(diskLimitBytes: number | null): number {
    return diskLimitBytes ?? Math.floor(this.#storeBytes() * SHARE_DEFAULT);
  }

  /**
   * Counts a subvolume with all that it takes for a session from now on. Idempotent; never fails for
   * want of room.
   */
  charge(subvolumePath: string, { sessionId, diskLimitBytes }: ShareOwner): void {
    if (!this.isEnforced) return;
    const group = groupOf(sessionId);
    const member = subvolumeId(subvolumePath);
    attempt("EEXIST", () => this.#groups.create(group));
    attempt("EEXIST", () => this.#groups.assign(group, ALL_SESSIONS));
    this.#groups.limit(group, this.shareBytes(diskLimitBytes));
    const before = this.#chargedTo.get(subvolumePath);
    if (before === group) return;
    if (before !== undefined) attempt("ENOENT", () => this.#groups.release(member, before));
    attempt("EEXIST", () => this.#groups.assign(member, group));
    this.#chargedTo.set(subvolumePath, group);
  }

  /** Forgets a subvolume that is gone. */
  forget(subvolumePath: string): void {
    this.#chargedTo.delete(subvolumePath);
  }

  /** Returns what a session takes; `null` where nothing is counted. */
  usage({ sessionId, diskLimitBytes }: ShareOwner): ShareUsage | null {
    if (!this.isEnforced) return null;
    const usedBytes = this.#referencedBytes(nameOf(groupOf(sessionId)));
    return { usedBytes, shareBytes: this.shareBytes(diskLimitBytes) };
  }

  /** @throws STORE_FULL  the session has used up its share. */
  requireShare(owner: ShareOwner, what: string): void {
    const usage = this.usage(owner);
    if (usage === null || usage.usedBytes + LEFT_BYTES_MIN <= usage.shareBytes) return;
    const mebibytes = (bytes: number) => `${Math.ceil(bytes / MEBIBYTE)} MiB`;
    throw new WaypointError(
      "STORE_FULL",
      `The session has no room left in its share of the store to ${what}: it takes ${mebibytes(usage.usedBytes)} of ${mebibytes(usage.shareBytes)}.`,
      {
        hint: "Remove files in it (`waypoint exec --shell own`) or checkpoints (`waypoint rm CHECKPOINT`).",
        detail: { ...usage },
      },
    );
  }

  /** Tells whether all sessions together leave room for one more. */
  hasRoom(): boolean {
    const usedBytes = this.isEnforced ? this.#referencedBytes(nameOf(ALL_SESSIONS)) : 0;
    return usedBytes + NEW_BYTES_MIN <= this.#allBytes();
  }

  /** Removes the groups that nothing counts for any more: within a second, once for all who ask meanwhile. */
  sweepSoon(): void {
    if (!this.isEnforced || this.#sweeping !== null) return;
    this.#sweeping = setTimeout(() => {
      this.#sweeping = null;
      attempt(null, () => this.#sweep());
    }, SWEEP_DELAY_MS).unref();
  }

  #sweep(): void {
    for (const name of readdirSync(this.#groupsDir)) {
      const [, level, id] = /^([01])_(\d+)$/.exec(name) ?? [];
      if (level === undefined || id === undefined || this.#referencedBytes(name) > 0) continue;
      // One that has a subvolume or members is kept by the kernel.
      attempt(null, () => this.#groups.remove((BigInt(level) << 48n) | BigInt(id)));
    }
  }

  #enable(): boolean {
    try {
      this.#groups.enableSimple();
      attempt("EEXIST", () => this.#groups.create(ALL_SESSIONS));
      this.#groups.limit(ALL_SESSIONS, this.#allBytes());
    } catch {
      // An older kernel, or a store that cannot be written to, which is told elsewhere.
    }
    return existsSync(path.join(this.#groupsDir, nameOf(ALL_SESSIONS)));
  }

  #referencedBytes(name: string): number {
    try {
      return Number(readFileSync(path.join(this.#groupsDir, name, "referenced"), "utf8"));
    } catch {
      return 0;
    }
  }

  /** Returns what all sessions may take together. */
  #allBytes(): number {
    const storeBytes = this.#storeBytes();
    const least = Math.min(RESERVE_BYTES_MIN, storeBytes * RESERVE_SHARE_MAX);
    const reserve = Math.min(RESERVE_BYTES_MAX, Math.max(least, storeBytes * RESERVE_SHARE));
    return storeBytes - Math.floor(reserve);
  }

  #storeBytes(): number {
    const { blocks, bsize } = statfsSync(this.#storeDir);
    return blocks * bsize;
  }
}

/** A group's number has 48 bits, a session's id 50: so few are alike only by intent. */
function groupOf(sessionId: string): bigint {
  const digest = createHash("sha256").update(sessionId).digest();
  return LEVEL_SESSION | BigInt(digest.readUIntBE(0, 6));
}

/** Returns a group's name in sysfs. */
function nameOf(group: bigint): string {
  return `${group >> 48n}_${group & ((1n << 48n) - 1n)}`;
}

/** @param accepted  error that says that it is done already; `null` for any. */
function attempt(accepted: string | null, act: () => void): void {
  try {
    act();
  } catch (error) {
    if (accepted !== null && !isSystemError(error, accepted)) throw error;
  }
}
