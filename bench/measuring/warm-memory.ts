import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** How long a GiB of memory takes to be touched, and a thousand small pages, in milliseconds. */
export interface TouchTimes {
  firstMs: number;
  againMs: number;
  faultsMs: number;
}

/**
 * Sees to it that free memory is there, before each contender.
 *
 * The host of a virtual machine may take away what is free and give it again at the first touch;
 * then whoever is the first to use new memory pays for what the machine did before.
 */
export class WarmMemory {
  readonly #program: string;

  /** @param program  content of `warm`, compiled. @param directory  where it is put. */
  constructor(program: Buffer, directory: string) {
    this.#program = path.join(directory, "warm-memory");
    writeFileSync(this.#program, program, { mode: 0o755 });
  }

  /** Touches so much memory, and frees it. */
  async touch(mebibytes: number): Promise<TouchTimes> {
    const { stdout } = await run(this.#program, [String(mebibytes)]);
    const [first = NaN, again = NaN, faultsMs = NaN] = stdout.split(" ").map(Number);
    const perGib = 1024 / mebibytes;
    return { firstMs: first * perGib, againMs: again * perGib, faultsMs };
  }
}
