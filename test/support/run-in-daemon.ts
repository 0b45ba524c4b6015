import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import type { Checkpoint } from "../../src/index.ts";
import { eventually } from "./test-waypoint.ts";

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

/** Lists the instances of sessions whose files are in the store. */
export async function listInstances(own: { stateDir: string }): Promise<string[]> {
  const listed = await runInDaemon(own, `ls ${path.join(own.stateDir, "store", "instances")}`);
  return listed.split("\n").filter((name) => name !== "");
}

/** Cuts a process image of a checkpoint short, in memory and in the store. */
export async function cutImagesShort(
  own: { stateDir: string },
  checkpoint: Checkpoint,
): Promise<void> {
  // Before it is durable there is a copy still to come.
  await eventually(
    "a durable checkpoint",
    async () => (await checkpoint.show()).stage,
    (stage) => stage === "durable",
  );
  const find = `find ${own.stateDir} -path '*/${checkpoint.id}/*' -name core-1.img`;
  const cut = await runInDaemon(own, `${find} -exec truncate -s 20 {} + -print`);
  if (cut === "") throw new Error(`checkpoint ${checkpoint.id} has no image to cut`);
}
