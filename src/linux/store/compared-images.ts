import { lstat, readdir } from "node:fs/promises";
import path from "node:path";
import type { CheckpointPaths } from "./checkpoint-paths.ts";

/** Directories that are remembered; whoever refers to images refers to the newest of a session. */
const KNOWN_MAX = 256;

/** Images, and the file with their sums. */
export type Compared = Pick<CheckpointPaths, "imagesDir" | "sumsPath">;

/**
 * Which images were found to be what was captured, and were not written to since then.
 *
 * The kernel notes when a file was changed last (ctime), and nobody can set that. What goes wrong below a filesystem
 * is not seen here: btrfs has sums of its own, and whoever reads such a file is told.
 */
export class ComparedImages {
  readonly #known = new Map<string, { images: string; sums: string }>();

  /** Tells whether images and their sums are as they were when they were compared. */
  async isAsCompared({ imagesDir, sumsPath }: Compared): Promise<boolean> {
    const known = this.#known.get(imagesDir);
    if (known === undefined || known.images !== (await describe(imagesDir))) return false;
    return known.sums === (await describeFile(sumsPath).catch(() => ""));
  }

  /** Has images compared, and remembers them where that does not fail and nothing changes meanwhile. */
  async whenRight<T>({ imagesDir, sumsPath }: Compared, compare: () => Promise<T>): Promise<T> {
    this.#known.delete(imagesDir);
    const before = await describe(imagesDir);
    const result = await compare();
    if (before === (await describe(imagesDir))) {
      this.#remember(imagesDir, { images: before, sums: await describeFile(sumsPath) });
    }
    return result;
  }

  #remember(imagesDir: string, description: { images: string; sums: string }): void {
    this.#known.set(imagesDir, description);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KNOWN_MAX && oldest !== undefined) this.#known.delete(oldest);
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
  return (await Promise.all(files)).join("\n");
}
