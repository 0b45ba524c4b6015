import { open, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageFields, numberField, readImageEntries } from "../../formats/criu-images/index.ts";

/** Private memory in an image directory. */
export interface ImageMemory {
  totalBytes: number;
  /** That of the process that has most. */
  largestBytes: number;
  /** The longest range of addresses that counts as memory once it may be written to. */
  longestRangeBytes: number;
}

/** Enough for the magic numbers and the head of any image of memory. */
const HEAD_BYTES = 64;
const PAGES_ID = 1;
// mm_entry, vma_entry
const MEMORY_RANGES = 14;
const RANGE_START = 1;
const RANGE_END = 2;
const RANGE_FLAGS = 6;
const MAP_PRIVATE_ANONYMOUS = 0x22;
const MAP_NORESERVE = 0x4000;

/**
 * Returns how much memory the processes of an image directory have of their own.
 *
 * @throws Error  an image cannot be read.
 */
export async function measureMemory(imagesDir: string): Promise<ImageMemory> {
  const names = await readdir(imagesDir);
  const named = (pattern: RegExp) => names.filter((name) => pattern.test(name));
  const sizeOf = async (name: string) => (await stat(await pagesPath(imagesDir, name))).size;
  const [sizes, ranges] = await Promise.all([
    Promise.all(named(/^pagemap-\d+\.img$/).map(sizeOf)),
    Promise.all(named(/^mm-\d+\.img$/).map((name) => rangesOf(imagesDir, name))),
  ]);
  return {
    totalBytes: sizes.reduce((sum, size) => sum + size, 0),
    largestBytes: Math.max(0, ...sizes),
    longestRangeBytes: Math.max(0, ...ranges.flat()),
  };
}

async function rangesOf(imagesDir: string, name: string): Promise<number[]> {
  const [memory] = readImageEntries(await readFile(join(imagesDir, name)), "mm");
  if (memory === undefined) return [];
  return messageFields(memory, MEMORY_RANGES)
    .filter((range) => {
      const flags = numberField(range, RANGE_FLAGS);
      const isPrivate = (flags & MAP_PRIVATE_ANONYMOUS) === MAP_PRIVATE_ANONYMOUS;
      return isPrivate && (flags & MAP_NORESERVE) === 0;
    })
    .map((range) => numberField(range, RANGE_END) - numberField(range, RANGE_START));
}

/** Returns the file with the pages that an image of memory describes; its head names it. */
async function pagesPath(imagesDir: string, name: string): Promise<string> {
  await using file = await open(join(imagesDir, name));
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const firstEnd = bytesRead < 12 ? bytesRead : 12 + buffer.readUInt32LE(8);
  const [head] = readImageEntries(buffer.subarray(0, Math.min(firstEnd, bytesRead)), "pagemap");
  return join(imagesDir, `pages-${head === undefined ? 0 : numberField(head, PAGES_ID)}.img`);
}
