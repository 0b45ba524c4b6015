import { createHash } from "node:crypto";
import { lstat, readdir } from "node:fs/promises";
import path from "node:path";
import type { CheckpointPaths } from "./checkpoint-paths.ts";
import { digestOfFile } from "./image-sums.ts";

/** Directories that are remembered; whoever refers to images refers to the newest of a session. */
const KNOWN_MAX = 256;

/** Images, and the file with their sums. */
export type Compared = Pick<CheckpointPaths, "imagesDir" | "sumsPath">;

interface Known {
  /** Digest of which files there are. */
  images: string;
  /** Of the file with their sums. */
  digest: string;
}

/**
 * Which images were found to be what was captured, and were not written to since then.
 *
 * The kernel notes when a file was changed last (ctime), and nobody can set that. What goes wrong below a filesystem
 * is not seen here: btrfs has sums of its own, and whoever reads such a file is told.
 */
export class ComparedImages {
  readonly #known = new Map<string, Known>();
  /** Comparisons that have not ended, by directory. */
  readonly #underWay = new Map<string, Promise<string>>();

  /** Tells whether images and their sums are as they were when they were compared. */
  async isAsCompared({ imagesDir, sumsPath }: Compared): Promise<boolean> {
    const known = this.#known.get(imagesDir);
    if (known === undefined || known.images !== (await describe(imagesDir))) return false;
    // The time of their change is another one with each checkpoint that has them, too.
    return known.digest === (await digestOfFile(sumsPath));
  }

  /**
   * As {@link isAsCompared}, when a comparison that is under way has ended. Never rejects.
   *
   * Checkpoints in a row are faster than their sums: without the sums of the one before all of an image is read, which
   * makes the next one later still.
   */
  async isAsComparedThen(images: Compared): Promise<boolean> {
    try {
      await this.#underWay.get(images.imagesDir);
      return await this.isAsCompared(images);
    } catch {
      return false;
    }
  }

  /**
   * Has images compared, and remembers them where that does not fail and nothing changes meanwhile.
   *
   * @param compare  returns the digest of their sums, as this does.
   */
  async whenRight(imagesDir: string, compare: () => Promise<string>): Promise<string> {
    const comparison = this.#compare(imagesDir, compare);
    this.#underWay.set(imagesDir, comparison);
    try {
      return await comparison;
    } finally {
      if (this.#underWay.get(imagesDir) === comparison) this.#underWay.delete(imagesDir);
    }
  }

  async #compare(imagesDir: string, compare: () => Promise<string>): Promise<string> {
    this.forget(imagesDir);
    const before = await describe(imagesDir);
    const digest = await compare();
    if (before === (await describe(imagesDir)))
      this.#remember(imagesDir, { images: before, digest });
    return digest;
  }

  forget(imagesDir: string): void {
    this.#known.delete(imagesDir);
  }

  #remember(imagesDir: string, known: Known): void {
    this.#known.set(imagesDir, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KNOWN_MAX && oldest !== undefined) this.forget(oldest);
  }
}

async function describeFile(file: string): Promise<string> {
  const { ino, size, ctimeNs } = await lstat(file, { bigint: true });
  return `${ino}/${size}/${ctimeNs}`;
}

/** Which files there are, and when each was changed last. */
async function describe(imagesDir: string): Promise<string> {
  const names = await readdir(imagesDir);
  const files = names
    .sort()
    .map(async (name) => `${name}/${await describeFile(path.join(imagesDir, name))}`);
  return createHash("sha256")
    .update((await Promise.all(files)).join("\n"))
    .digest("hex");
}
