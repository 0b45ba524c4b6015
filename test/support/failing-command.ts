import { spawn } from "node:child_process";
import { type ErrorWire, WaypointError } from "../../src/index.ts";
import { finished, WAYPOINT_COMMAND } from "./command-line.ts";

/**
 * Runs a command line that is meant to fail, with --json, and returns what a program gets.
 *
 * @param prefix  a program that starts it, with that program's arguments.
 */
export async function failureOf(
  own: { stateDir: string },
  args: readonly string[],
  prefix: readonly string[] = [],
): Promise<{ exitCode: number | null; error: WaypointError }> {
  const words = [...prefix, WAYPOINT_COMMAND, "--dir", own.stateDir, "--json", ...args];
  const [program = "", ...rest] = words;
  const ended = await finished(
    spawn(program, rest, { cwd: "/", stdio: ["ignore", "pipe", "pipe"] }),
  );
  const lines = ended.stderr.trimEnd().split("\n");
  if (ended.stdout !== "" || lines.length !== 1) {
    throw new Error(`not one line of error: ${JSON.stringify(ended)}`);
  }
  const { error } = JSON.parse(ended.stderr) as { error: ErrorWire };
  return { exitCode: ended.exitCode, error: WaypointError.fromJSON(error) };
}
