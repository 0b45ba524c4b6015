import { closeSync, existsSync, openSync, readFileSync, statfsSync } from "node:fs";
import { open } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { StateLayout } from "../../base/index.ts";
import { explainDiskError, syncFilesystem } from "../kernel/index.ts";
import { filesystemUuid, reclaimSpace } from "./btrfs-ioctl.ts";
import type { SessionShares } from "./session-shares.ts";
import type { StoreHealth } from "./store-health.ts";

/** Below this much free space nothing new is begun, so that what runs can go on. */
const FREE_BYTES_MIN = 64 * 1024 * 1024;
/** Of what sessions cannot take, captures before a restore or a stop leave this much to the rest. */
const LAST_BYTES = 16 * 1024 * 1024;
/** How long a full store may take to give back something of what was just removed from it. */
const RECLAIM_TIMEOUT_MS = 1_000;
const RECLAIM_TIMEOUT_MS_MAX = 10_000;
const RECLAIM_POLL_INTERVAL_MS = 50;
/** Above this much unwritten data a checkpoint writes it out before it freezes anything. */
const DIRTY_BYTES_WORTH_FLUSHING = 8 * 1024 * 1024;

/** What room is needed for: something new, or a capture that keeps what is there. */
export type RoomFor = "new" | "keeping";

/** The space of the store's filesystem: what is free, what is not written yet. */
export class StoreSpace {
  readonly #layout: StateLayout;
  readonly #shares: SessionShares;
  readonly #health: StoreHealth;
  #uuid: string | undefined;

  constructor(layout: StateLayout, shares: SessionShares, health: StoreHealth) {
    this.#layout = layout;
    this.#shares = shares;
    this.#health = health;
  }

  /**
   * Writes out what is dirty in the store, when it is enough to lengthen the pause of a snapshot:
   * a snapshot writes the subvolume's dirty pages while the processes stand still.
   */
  async flushIfDirty(room: RoomFor): Promise<void> {
    await this.requireRoom("take a checkpoint", room);
    if (this.unwrittenBytes() > DIRTY_BYTES_WORTH_FLUSHING) await this.flush();
  }

  /** Writes everything in the store to the disk. */
  async sync(): Promise<void> {
    await this.flush();
    if (!existsSync(this.#layout.storeImagePath)) return;
    // The image's own blocks must reach the disk below it too.
    await using image = await open(this.#layout.storeImagePath, "r+");
    await image.sync();
  }

  /** Writes everything in the filesystem to its device. */
  async flush(): Promise<void> {
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
  unwrittenBytes(): number {
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

  /**
   * @throws STORE_FULL    when too little is free to begin anything.
   * @throws STORE_FAILED  when the store cannot be written to.
   */
  async requireRoom(what: string, room: RoomFor = "new"): Promise<void> {
    this.#health.requireWritable(what);
    if (this.#hasRoom(room) || (await this.reclaim(room))) return;
    throw explainDiskError(Object.assign(new Error("ENOSPC"), { code: "ENOSPC" }), what);
  }

  /**
   * Gets back the space of what was removed, which btrfs otherwise gives back at its leisure.
   *
   * @returns whether there is room to begin something now.
   */
  async reclaim(room: RoomFor): Promise<boolean> {
    const lastAtMs = performance.now() + RECLAIM_TIMEOUT_MS_MAX;
    let endsAtMs = performance.now() + RECLAIM_TIMEOUT_MS;
    let { usedBytes } = this.usage();
    while (performance.now() < Math.min(endsAtMs, lastAtMs)) {
      // Writing out to a disk that has no room would break the store.
      if (freeBytesOf(this.#layout.stateDir) < LAST_BYTES) return false;
      await this.flush();
      reclaimSpace(this.#layout.storeDir);
      await delay(RECLAIM_POLL_INTERVAL_MS);
      if (this.#hasRoom(room)) return true;
      const now = this.usage();
      if (now.usedBytes < usedBytes) endsAtMs = performance.now() + RECLAIM_TIMEOUT_MS;
      usedBytes = now.usedBytes;
    }
    return false;
  }

  #hasRoom(room: RoomFor): boolean {
    const { isEnforced } = this.#shares;
    const belowMin = isEnforced && room === "keeping" ? LAST_BYTES : FREE_BYTES_MIN;
    const insideMin = isEnforced ? LAST_BYTES : FREE_BYTES_MIN;
    return (
      freeBytesOf(this.#layout.stateDir) >= belowMin &&
      freeBytesOf(this.#layout.storeDir) >= insideMin &&
      (room === "keeping" || this.#shares.hasRoom())
    );
  }
}

function freeBytesOf(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}
