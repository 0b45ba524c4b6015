import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isSystemError, readCgroupMounts } from "../../src/base/index.ts";
import { parseChildren } from "../../src/formats/proc/index.ts";
import { eventually } from "./test-waypoint.ts";

const STILL_MS = 1000;

/** A group around a process and its children, in which the kernel counts processes as it does on a full machine. */
export class PidsGroup {
  readonly #directory: string;
  readonly #parent: string;

  constructor(pid: number) {
    this.#parent = readCgroupMounts().directories.pids ?? "";
    this.#directory = path.join(this.#parent, `waypoint-test-table-${process.pid}-${pid}`);
    mkdirSync(this.#directory);
    this.#write("cgroup.procs", pid);
    // What they start is counted as well.
    const children = parseChildren(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8"));
    for (const child of children) this.#moveIn(child);
  }

  #moveIn(pid: number): void {
    try {
      this.#write("cgroup.procs", pid);
    } catch (error) {
      // It has ended.
      if (!isSystemError(error, "ESRCH")) throw error;
    }
  }

  /** Waits until nobody in it has started or ended for a second: what ends later leaves more room. */
  async waitUntilStill(): Promise<void> {
    let seen: { count: string; sinceMs: number } | undefined;
    await eventually(
      "a group in which nobody starts or ends",
      () => {
        const count = this.#read("pids.current");
        if (seen?.count !== count) seen = { count, sinceMs: performance.now() };
        return performance.now() - seen.sinceMs;
      },
      (stillMs) => stillMs >= STILL_MS,
    );
  }

  /** Lets so many more processes and threads be started. */
  leaveRoom(room: number): void {
    this.#write("pids.max", Number(this.#read("pids.current")) + room);
  }

  leaveAllRoom(): void {
    this.#write("pids.max", "max");
  }

  /** What lives in it goes on outside of it; the daemon may start something meanwhile. */
  async remove(): Promise<void> {
    await eventually(
      "an empty group",
      () => {
        this.#moveAll();
        return this.#isRemoved();
      },
      (isRemoved) => isRemoved,
    );
  }

  #moveAll(): void {
    for (const pid of this.#read("cgroup.procs").split("\n").filter(Boolean)) {
      if (existsSync(`/proc/${pid}`)) {
        writeFileSync(path.join(this.#parent, "cgroup.procs"), pid);
      }
    }
  }

  #isRemoved(): boolean {
    try {
      rmdirSync(this.#directory);
      return true;
    } catch (error) {
      if (isSystemError(error, "EBUSY")) return false;
      throw error;
    }
  }

  #read(file: string): string {
    return readFileSync(path.join(this.#directory, file), "utf8");
  }

  #write(file: string, value: number | string): void {
    writeFileSync(path.join(this.#directory, file), String(value));
  }
}
