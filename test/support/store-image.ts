import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, readFileSync, readSync, writeSync } from "node:fs";

const SUPERBLOCK_BYTES = 4096;
/** Where btrfs keeps its superblock, and the copy that a small image has. */
const SUPERBLOCK_OFFSETS = [65_536, 64 * 1024 ** 2];
const COMPAT_RO_FLAGS_OFFSET = 0xb4;
const CHECKSUM_BYTES = 32;
/** A feature that no kernel knows: with one of this kind a filesystem may be read, not written. */
const UNKNOWN_FEATURE = 1n << 60n;

/** Overwrites the superblocks of an image that nobody has mounted; the result puts them back. */
export function breakSuperblocks(imagePath: string): () => void {
  return changeSuperblocks(imagePath, (block) => block.fill(0));
}

/** Lets an image that nobody has mounted be mounted read-only alone; the result takes it back. */
export function setUnknownReadOnlyFeature(imagePath: string): () => void {
  return changeSuperblocks(imagePath, (block) => {
    const flags = block.readBigUInt64LE(COMPAT_RO_FLAGS_OFFSET);
    block.writeBigUInt64LE(flags | UNKNOWN_FEATURE, COMPAT_RO_FLAGS_OFFSET);
    block.writeUInt32LE(crc32c(block.subarray(CHECKSUM_BYTES)), 0);
  });
}

/** Returns a sum of all that is in a file; `null` where there is none. */
export function contentOf(imagePath: string): string | null {
  if (!existsSync(imagePath)) return null;
  return createHash("sha256").update(readFileSync(imagePath)).digest("hex");
}

function changeSuperblocks(imagePath: string, change: (block: Buffer) => void): () => void {
  const before = SUPERBLOCK_OFFSETS.map((offset) => {
    const block = Buffer.alloc(SUPERBLOCK_BYTES);
    withImage(imagePath, (fd) => readSync(fd, block, 0, block.length, offset));
    const changed = Buffer.from(block);
    change(changed);
    withImage(imagePath, (fd) => writeSync(fd, changed, 0, changed.length, offset));
    return { offset, block };
  });
  return () => {
    for (const { offset, block } of before) {
      withImage(imagePath, (fd) => writeSync(fd, block, 0, block.length, offset));
    }
  };
}

function withImage(imagePath: string, act: (fd: number) => void): void {
  const fd = openSync(imagePath, "r+");
  try {
    act(fd);
  } finally {
    closeSync(fd);
  }
}

/** CRC-32C (Castagnoli), the sum that btrfs uses. */
function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}
