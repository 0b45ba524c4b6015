import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { readCgroupMounts } from "../../src/base/index.ts";

const FILES = {
  1: { limit: "memory.limit_in_bytes", events: "memory.oom_control" },
  2: { limit: "memory.max", events: "memory.events" },
};

/** A control group of the test's own, with a limit of memory. */
export class MemoryGroup implements Disposable {
  readonly #directory: string;
  readonly #files: (typeof FILES)[1 | 2];

  constructor(name: string, limitBytes: number) {
    const { version, directories } = readCgroupMounts();
    this.#files = FILES[version];
    this.#directory = path.join(directories.memory ?? "", `waypoint-test-${name}-${process.pid}`);
    mkdirSync(this.#directory);
    writeFileSync(path.join(this.#directory, this.#files.limit), String(limitBytes));
  }

  /** Returns the words that run a program inside of it. */
  inside(argv: readonly string[]): [string, ...string[]] {
    const procs = path.join(this.#directory, "cgroup.procs");
    return ["sh", "-c", `echo $$ >'${procs}'; exec "$@"`, "sh", ...argv];
  }

  /** How often the kernel has ended a program in it for want of memory. */
  kills(): number {
    const text = readFileSync(path.join(this.#directory, this.#files.events), "utf8");
    return Number(/^oom_kill (\d+)$/m.exec(text)?.[1]);
  }

  /** All that ran in it has ended. */
  [Symbol.dispose](): void {
    rmdirSync(this.#directory);
  }
}
