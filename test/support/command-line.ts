import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The command as a user starts it. */
export const WAYPOINT_COMMAND = fileURLToPath(new URL("../../bin/waypoint", import.meta.url));

/** What a finished command line left. */
export interface FinishedCommand {
  stdout: string;
  stderr: string;
  /** `null` when a signal ended it. */
  exitCode: number | null;
}

/** Starts `waypoint` on a state directory; its input is empty unless `stdio` says otherwise. */
export function startCommand(
  stateDir: string,
  args: readonly string[],
  options: SpawnOptions = {},
): ChildProcess {
  return spawn(WAYPOINT_COMMAND, ["--dir", stateDir, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
  });
}

/** Runs `waypoint` to its end. */
export async function runCommand(
  stateDir: string,
  args: readonly string[],
): Promise<FinishedCommand> {
  return await finished(startCommand(stateDir, args));
}

/** Runs a line of shell on the host in which `$W` is `waypoint` on a state directory. */
export async function runShellLine(stateDir: string, line: string): Promise<FinishedCommand> {
  const env = { ...process.env, W: `${WAYPOINT_COMMAND} --dir ${stateDir}` };
  return await finished(spawn("bash", ["-c", line], { env, stdio: ["ignore", "pipe", "pipe"] }));
}

/** Gathers the output of a command from now on and waits for its end. */
export async function finished(child: ChildProcess): Promise<FinishedCommand> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on("data", (bytes: Buffer) => stdout.push(bytes));
  child.stderr?.on("data", (bytes: Buffer) => stderr.push(bytes));
  const [exitCode] = (await once(child, "close")) as [number | null];
  const textOf = (chunks: Buffer[]) => Buffer.concat(chunks).toString("utf8");
  return { stdout: textOf(stdout), stderr: textOf(stderr), exitCode };
}

/** Returns the most memory that a running process has had resident so far, in bytes. */
export function peakMemoryBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
