import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { displayWidth } from "./text/display-width.ts";

/** Leaves at once what fits, passes colours on, and leaves the screen as it was. */
const PAGER_DEFAULT = "less -FRX";
/** Less with nothing but options: more of a shell's line is not ours to add to. */
const PLAIN_LESS = /^(?:\S*\/)?less(?:\s+-\S+)*$/;
/** Exit codes of the shell when it does not find the program, or may not run it. */
const EXIT_CODES_NOT_RUN = [126, 127];

/** Returns the command that shows long text, or `null` where none is wanted. */
export function choosePager(env: NodeJS.ProcessEnv): string | null {
  const chosen = env["WAYPOINT_PAGER"] ?? env["PAGER"] ?? PAGER_DEFAULT;
  return chosen.trim() === "" || chosen.trim() === "cat" ? null : chosen;
}

/** Returns the command that opens text at its end, where it is known how; else the command itself. */
export function openAtEnd(pager: string): string {
  return PLAIN_LESS.test(pager.trim()) ? `${pager.trim()} +G` : pager;
}

/** Tells whether lines take more than a terminal's screen, where long ones take several rows. */
export function isLongerThan(
  lines: readonly string[],
  { columns, rows }: { columns: number; rows: number },
): boolean {
  let taken = 0;
  for (const line of lines) {
    taken += Math.max(1, Math.ceil(displayWidth(line) / columns));
    // The prompt that comes afterwards has a row, too.
    if (taken >= rows) return true;
  }
  return false;
}

/**
 * Shows text in a pager and waits for its end, however it ends: whoever leaves it has read enough.
 *
 * Resolves to false when the pager could not be run, and nothing was shown.
 */
export async function showInPager(command: string, text: string): Promise<boolean> {
  // Loaded only here, because every start of the command line would pay for it.
  const { spawn } = process.getBuiltinModule("node:child_process");
  // Ctrl-C is for the pager, which has the terminal.
  const ignore = () => {};
  process.on("SIGINT", ignore);
  try {
    const pager = spawn("/bin/sh", ["-c", command], {
      env: { LESS: "FRX", LV: "-c", ...process.env },
      stdio: ["pipe", "inherit", "inherit"],
    });
    return await feed(pager, text);
  } finally {
    process.off("SIGINT", ignore);
  }
}

async function feed(pager: ChildProcess, text: string): Promise<boolean> {
  // A pager that is left early reads no more.
  pager.stdin?.on("error", () => {});
  pager.stdin?.end(text);
  try {
    const [exitCode] = (await once(pager, "close")) as [number | null];
    return exitCode === null || !EXIT_CODES_NOT_RUN.includes(exitCode);
  } catch {
    return false;
  }
}
