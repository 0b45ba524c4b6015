import type { Checkpoint } from "../../src/index.ts";
import { runInDaemon } from "./run-in-daemon.ts";

/** Where a bit of a file is turned over; again at the same place puts it right. */
export interface BitPlace {
  path: string;
  offset: number;
  bit: number;
}

/** Lists the images of a checkpoint, in memory and in the store, that are not empty. */
export async function listImages(
  own: { stateDir: string },
  { id }: Checkpoint,
): Promise<{ path: string; name: string; sizeBytes: number }[]> {
  const dirs = [`${own.stateDir}/images/${id}`, `${own.stateDir}/store/checkpoints/${id}/images`];
  const found = await runInDaemon(
    own,
    `find ${dirs.join(" ")} -type f -size +0 -printf '%p %f %s\\n' 2>/dev/null || true`,
  );
  return found
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split(" ") as [string, string, string])
    .map(([path, name, size]) => ({ path, name, sizeBytes: Number(size) }));
}

/** Turns bits over through the filesystem, as a bad disk or a bad memory does. */
export async function flipBits(own: { stateDir: string }, places: BitPlace[]): Promise<void> {
  const lines = places.map(
    ({ path, offset, bit }) =>
      `f=open("${path}","r+b"); f.seek(${offset}); b=f.read(1)[0]; f.seek(${offset}); f.write(bytes([b ^ ${1 << bit}])); f.close()`,
  );
  await runInDaemon(own, `python3 -c '${lines.join("\n")}'`);
}
