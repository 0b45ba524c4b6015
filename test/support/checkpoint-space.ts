import type { Checkpoint } from "../../src/index.ts";
import { runInDaemon } from "./run-in-daemon.ts";
import { eventually } from "./test-waypoint.ts";

/** Waits until checkpoints are durable: what they take in the store is final then. */
export async function untilDurable(checkpoints: readonly Checkpoint[]): Promise<void> {
  for (const checkpoint of checkpoints) {
    await eventually(
      `checkpoint ${checkpoint.id} becoming durable`,
      async () => (await checkpoint.show()).stage,
      (stage) => stage === "durable",
      60_000,
    );
  }
}

/** Returns the space that the images of all checkpoints take together, each shared block once. */
export async function imagesBytes(own: { stateDir: string }): Promise<number> {
  const images = `${own.stateDir}/store/checkpoints/*/images`;
  const listed = await runInDaemon(own, `sync -f ${own.stateDir}/store; filefrag -ve ${images}/*`);
  const extents = new Map<number, number>();
  for (const line of listed.split("\n")) {
    const [, physical, blocks] =
      /^\s*\d+:\s+\d+\.\.\s*\d+:\s+(\d+)\.\.\s*\d+:\s+(\d+):/.exec(line) ?? [];
    if (physical === undefined || line.includes("inline")) continue;
    for (let block = 0; block < Number(blocks); block += 1)
      extents.set(Number(physical) + block, 1);
  }
  return extents.size * 4096;
}

/** Returns the space of data that btrfs has in use, with what it cannot free for what is near it. */
export async function dataBytes(own: { stateDir: string }): Promise<number> {
  const storeDir = `${own.stateDir}/store`;
  const line = `btrfs filesystem sync ${storeDir}; btrfs filesystem df -b ${storeDir}`;
  return Number(/^Data,.*used=(\d+)$/m.exec(await runInDaemon(own, line))?.[1]);
}

/** Removes the images of a checkpoint from memory, so that only those in the store are left. */
export async function forgetMemoryImages(
  own: { stateDir: string },
  checkpoint: Checkpoint,
): Promise<void> {
  await runInDaemon(own, `rm -rf ${own.stateDir}/images/${checkpoint.id}`);
}

/** Removes everything of a checkpoint's images, as if it had been removed. */
export async function destroyImages(
  own: { stateDir: string },
  checkpoint: Checkpoint,
): Promise<void> {
  await forgetMemoryImages(own, checkpoint);
  await runInDaemon(own, `rm -rf ${own.stateDir}/store/checkpoints/${checkpoint.id}/images`);
}
