import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { numberField } from "../../formats/criu-images/index.ts";
import { readEntries } from "./read-image-processes.ts";

const PAGE_BYTES = 4096;
/** A process that has more memory of its own is not read as a whole. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024;

// pagemap_head, pagemap_entry
const HEAD_PAGES_ID = 1;
const ENTRY_ADDRESS = 1;
const ENTRY_PAGES_32 = 2;
const ENTRY_FLAGS = 4;
const ENTRY_PAGES = 5;
const PAGE_PRESENT = 4;

/** A stretch of a process's memory. */
export interface MemoryStretch {
  address: number;
  bytes: Buffer;
}

/** Where the pages of a stretch of memory lie in the file of pages. */
interface PageRun {
  address: number;
  sizeBytes: number;
  offset: number;
}

/**
 * The memory that a process of an image directory has of its own: what it has written, and what no
 * file has. Pages of programs and libraries that are as in their files are not in the images.
 */
export class ProcessMemory implements AsyncDisposable {
  readonly sizeBytes: number;
  readonly #runs: readonly PageRun[];
  readonly #pages: FileHandle;

  /** @throws CHECKPOINT_INCOMPLETE | Error  an image is missing or cannot be read. */
  static async open(imagesDir: string, pid: number): Promise<ProcessMemory> {
    const [head, ...entries] = await readEntries(imagesDir, `pagemap-${pid}.img`, "pagemap");
    const runs: PageRun[] = [];
    let offset = 0;
    for (const entry of entries) {
      if (entry.has(ENTRY_FLAGS) && (numberField(entry, ENTRY_FLAGS) & PAGE_PRESENT) === 0)
        continue;
      const pages = numberField(entry, ENTRY_PAGES) || numberField(entry, ENTRY_PAGES_32);
      const sizeBytes = pages * PAGE_BYTES;
      runs.push({ address: numberField(entry, ENTRY_ADDRESS), sizeBytes, offset });
      offset += sizeBytes;
    }
    const pagesId = head === undefined ? 0 : numberField(head, HEAD_PAGES_ID);
    return new ProcessMemory(runs, await open(join(imagesDir, `pages-${pagesId}.img`)));
  }

  private constructor(runs: readonly PageRun[], pages: FileHandle) {
    this.#runs = runs;
    this.#pages = pages;
    this.sizeBytes = runs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pages.close();
  }

  /** Returns bytes at an address; fewer, where what follows is not in the images. */
  async read(address: number, sizeBytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let at = address; at < address + sizeBytes; ) {
      const run = this.#runs.find(
        (each) => at >= each.address && at < each.address + each.sizeBytes,
      );
      if (run === undefined) break;
      const skipped = at - run.address;
      const wanted = Math.min(run.sizeBytes - skipped, address + sizeBytes - at);
      parts.push(await this.#readPages(run.offset + skipped, wanted));
      at += wanted;
    }
    return Buffer.concat(parts);
  }

  /** Returns all of it. @throws Error  it is more than anyone should hold in memory. */
  async readAll(): Promise<MemoryStretch[]> {
    if (this.sizeBytes > WHOLE_BYTES_MAX) {
      throw new Error(`the process has ${this.sizeBytes} bytes of memory, too many to look into`);
    }
    const bytes = await this.#readPages(0, this.sizeBytes);
    return this.#runs.map(({ address, sizeBytes, offset }) => ({
      address,
      bytes: bytes.subarray(offset, offset + sizeBytes),
    }));
  }

  async #readPages(offset: number, sizeBytes: number): Promise<Buffer> {
    const bytes = Buffer.alloc(sizeBytes);
    const { bytesRead } = await this.#pages.read(bytes, 0, sizeBytes, offset);
    if (bytesRead < sizeBytes) throw new Error("the CRIU pages image is cut off");
    return bytes;
  }
}

/** Returns the whole memory of a process of an image directory. @throws CHECKPOINT_INCOMPLETE | Error */
export async function readImageMemory(imagesDir: string, pid: number): Promise<MemoryStretch[]> {
  await using memory = await ProcessMemory.open(imagesDir, pid);
  return await memory.readAll();
}
