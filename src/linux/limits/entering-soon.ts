import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { CgroupMounts, Controller } from "../../base/index.ts";

/** The kernel stays ready for some 10 ms after a move. */
const MOVE_INTERVAL_MS = 3;
/** Whatever takes longer than this until a process enters will not notice that it waits. */
const READY_TIMEOUT_MS = 500;

/**
 * Makes the kernel ready to move a process between control groups, and keeps it so for a while.
 *
 * The first move after a while waits until every processor has passed a quiet point, some 10 ms;
 * those that follow soon do not. So moves that change nothing, of this process into the group in
 * which it is, go ahead while the files and the network of a session are made.
 */
export class EnteringSoon {
  #waiting = 0;
  #endsAtMs = 0;
  #isBusy = false;
  #own: OwnGroup | null = null;

  /** Begins; the result is to be disposed of when the process is in its group. */
  begin(mounts: CgroupMounts, controller: Controller): Disposable {
    this.#waiting += 1;
    this.#endsAtMs = performance.now() + READY_TIMEOUT_MS;
    // A move that was not prepared is slower, and no less right.
    if (!this.#isBusy) void this.#keepReady(mounts, controller).catch(() => {});
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (!isOver) this.#waiting -= 1;
        isOver = true;
      },
    };
  }

  async #keepReady(mounts: CgroupMounts, controller: Controller): Promise<void> {
    this.#isBusy = true;
    try {
      while (this.#waiting > 0 && performance.now() < this.#endsAtMs) {
        this.#own = findOwnGroup(mounts, controller, this.#own);
        if (this.#own === null) return;
        await writeFile(this.#own.file, String(process.pid));
        await delay(MOVE_INTERVAL_MS);
      }
    } finally {
      this.#isBusy = false;
    }
  }
}

/** The group of this process in one hierarchy, and the file that takes processes in. */
interface OwnGroup {
  controller: Controller;
  group: string;
  file: string;
}

/**
 * Returns the group of this process; `null` where it is not seen.
 *
 * @param known  what was found before: its members need no second look, which reads the numbers of all
 * processes of the machine.
 */
function findOwnGroup(
  { version, directories }: CgroupMounts,
  controller: Controller,
  known: OwnGroup | null,
): OwnGroup | null {
  const own = readFileSync("/proc/self/cgroup", "utf8");
  const line =
    version === 2 ? /^0::(.*)$/m : new RegExp(`^\\d+:(?:\\S+,)?${controller}[,:](.*)$`, "m");
  const [, group] = line.exec(own) ?? [];
  const mountPoint = directories[controller];
  if (group === undefined || mountPoint === undefined) return null;
  if (known?.controller === controller && known.group === group) return known;
  const file = path.join(mountPoint, group, "cgroup.procs");
  // A mount may show a part of the hierarchy, where the same path is another group.
  const members = readFileSync(file, "utf8").split("\n");
  return members.includes(String(process.pid)) ? { controller, group, file } : null;
}
