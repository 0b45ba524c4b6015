import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

/** Runs a line of shell in the mount namespace of a daemon, where its store is mounted. */
export async function runInDaemon(own: { stateDir: string }, line: string): Promise<string> {
  const namespacePath = path.join(own.stateDir, "ns", "mnt");
  const { stdout } = await promisify(execFile)("nsenter", [
    `--mount=${namespacePath}`,
    "sh",
    "-c",
    line,
  ]);
  return stdout;
}

/** Lists the incarnations of sessions whose files are in the store. */
export async function listInstances(own: { stateDir: string }): Promise<string[]> {
  const listed = await runInDaemon(own, `ls ${path.join(own.stateDir, "store", "instances")}`);
  return listed.split("\n").filter((name) => name !== "");
}
