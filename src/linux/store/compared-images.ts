import { lstat, readdir } from "node:fs/promises";
import path from "node:path";

/** Directories that are remembered; whoever refers to images refers to the newest of a session. */
const KNOWN_MAX = 256;

/**
 * Which images were found to be what was captured, and were not written to since then.
 *
 * The kernel notes when a file was changed last (ctime), and nobody can set that. What goes wrong below a filesystem
 * is not seen here: btrfs has sums of its own, and whoever reads such a file is told.
 */
export class ComparedImages {
  readonly #known = new Map<string, string>();

  /** Tells whether images are as they were when they were compared. */
  async isAsCompared(imagesDir: string): Promise<boolean> {
    const known = this.#known.get(imagesDir);
    return known !== undefined && known === (await describe(imagesDir));
  }

  /** Has images compared, and remembers them where that does not fail and nothing changes meanwhile. */
  async whenRight<T>(imagesDir: string, compare: () => Promise<T>): Promise<T> {
    this.#known.delete(imagesDir);
    const before = await describe(imagesDir);
    const result = await compare();
    if (before === (await describe(imagesDir))) this.#remember(imagesDir, before);
    return result;
  }

  #remember(imagesDir: string, description: string): void {
    this.#known.set(imagesDir, description);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KNOWN_MAX && oldest !== undefined) this.#known.delete(oldest);
  }
}

/** Which files there are, and when each was changed last. */
async function describe(imagesDir: string): Promise<string> {
  const names = await readdir(imagesDir);
  const files = names.sort().map(async (name) => {
    const { ino, size, ctimeNs } = await lstat(path.join(imagesDir, name), { bigint: true });
    return `${name}/${ino}/${size}/${ctimeNs}`;
  });
  return (await Promise.all(files)).join("\n");
}
