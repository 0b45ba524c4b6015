import { closeSync, openSync } from "node:fs";
import { ioctl } from "../kernel/index.ts";

// Numbers and layouts from <linux/btrfs.h>; docs/notes/btrfs has the source.
const BTRFS_IOC_QUOTA_CTL = 0xc0109428;
const BTRFS_IOC_QGROUP_ASSIGN = 0x40189429;
const BTRFS_IOC_QGROUP_CREATE = 0x4010942a;
const BTRFS_IOC_QGROUP_LIMIT = 0x8030942b;
const ENABLE_SIMPLE = 4n;
const LIMIT_REFERENCED = 1n;

/** The quota groups of one btrfs filesystem. A group of level 0 is a subvolume; its id, its number. */
export class QuotaGroups {
  readonly #directory: string;

  /** @param directory  any directory of the filesystem. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Switches simple quotas on: an extent counts for the subvolume that wrote it until it is gone.
   * Succeeds when they are on. Fails with ENOTTY or EINVAL on kernels older than 6.7.
   */
  enableSimple(): void {
    this.#call(BTRFS_IOC_QUOTA_CTL, [ENABLE_SIMPLE, 0n]);
  }

  /** Makes a group; fails with EEXIST. */
  create(group: bigint): void {
    this.#call(BTRFS_IOC_QGROUP_CREATE, [1n, group]);
  }

  /** Removes a group; fails with EBUSY while it has members or its subvolume is there. */
  remove(group: bigint): void {
    this.#call(BTRFS_IOC_QGROUP_CREATE, [0n, group]);
  }

  /** Makes a group a member of one of a higher level, with what it takes; fails with EEXIST. */
  assign(member: bigint, group: bigint): void {
    this.#call(BTRFS_IOC_QGROUP_ASSIGN, [1n, member, group]);
  }

  /** Takes a member out of its group; fails with ENOENT. */
  release(member: bigint, group: bigint): void {
    this.#call(BTRFS_IOC_QGROUP_ASSIGN, [0n, member, group]);
  }

  /** Says how much the members of a group may take together. */
  limit(group: bigint, maxBytes: number): void {
    const limits = [LIMIT_REFERENCED, BigInt(maxBytes), 0n, 0n, 0n];
    this.#call(BTRFS_IOC_QGROUP_LIMIT, [group, ...limits]);
  }

  #call(request: number, fields: readonly bigint[]): void {
    const fd = openSync(this.#directory, "r");
    try {
      ioctl(fd, request, new Uint8Array(new BigUint64Array(fields).buffer));
    } finally {
      closeSync(fd);
    }
  }
}
