import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const SHOWN_CHARS_MAX = 200;
const STOP_TIMEOUT_MS = 60_000;

/** What has just been told to end may still be there. */
const ENDING_MS_MAX = 10_000;
const LOOK_INTERVAL_MS = 200;

/**
 * What tests that had all their files below a directory have left of themselves: files, processes,
 * mounts and loop devices that name it, a line each.
 */
export async function leftBehind(
  directory: string,
  endingMsMax = ENDING_MS_MAX,
): Promise<string[]> {
  const endsAtMs = performance.now() + endingMsMax;
  for (;;) {
    const left = lookAround(directory);
    if (left.length === 0 || performance.now() > endsAtMs) return left;
    await delay(LOOK_INTERVAL_MS);
  }
}

/** The same at this instant. */
export function lookAround(directory: string): string[] {
  const files = readdirSync(directory).map((name) => `file ${name}`);
  const processes = readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    const has = (file: string) => read(`/proc/${pid}/${file}`).includes(directory);
    if (!(has("cmdline") || has("environ") || has("mountinfo"))) return [];
    return [`process ${pid}: ${read(`/proc/${pid}/cmdline`).replaceAll("\0", " ")}`];
  });
  const { stdout } = spawnSync("losetup", ["--list", "--noheadings"], { encoding: "utf8" });
  const loops = (stdout ?? "").split("\n").filter((line) => line.includes(directory));
  return [...files, ...processes, ...loops].map((line) => line.slice(0, SHOWN_CHARS_MAX));
}

/** Ends the daemons, with their sessions, that failed tests have left, and removes their files. */
export function clearAway(directory: string, command: string): void {
  for (const name of readdirSync(directory)) {
    const stateDir = join(directory, name);
    if (existsSync(join(stateDir, "daemon.sock"))) {
      const argv = ["--dir", stateDir, "daemon", "stop", "--sessions"];
      spawnSync(command, argv, { timeout: STOP_TIMEOUT_MS });
    }
    try {
      rmSync(stateDir, { recursive: true, force: true });
    } catch {
      // A mount that nobody ends any more holds it; it was told.
    }
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // It has ended meanwhile, or is not ours to look at.
  }
}
