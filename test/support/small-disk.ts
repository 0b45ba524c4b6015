import { execFileSync } from "node:child_process";
import { chownSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { directoryOfNobody, NOBODY, removeDirectory } from "./server-process.ts";

/** A filesystem of a test's own that is soon full. */
export class SmallDisk implements AsyncDisposable {
  readonly path: string;
  readonly #mountPoint: string;
  readonly #bytes: number;

  private constructor(mountPoint: string, bytes: number) {
    this.#mountPoint = mountPoint;
    this.#bytes = bytes;
    this.path = mountPoint;
  }

  static mount(bytes: number): SmallDisk {
    const disk = new SmallDisk(directoryOfNobody(), bytes);
    const options = `size=${disk.#bytes},mode=0700,uid=${NOBODY},gid=${NOBODY}`;
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "waypoint-test", disk.#mountPoint]);
    return disk;
  }

  /** Takes all room but so many bytes, and gives it back when it is removed. */
  fill(leftBytes: number): { remove: () => void } {
    const file = path.join(this.path, "filler");
    const used = Number(
      execFileSync("df", ["--output=avail", "-B1", this.path], { encoding: "utf8" }).split("\n")[1],
    );
    writeFileSync(file, Buffer.alloc(Math.max(0, used - leftBytes)));
    chownSync(file, NOBODY, NOBODY);
    return { remove: () => rmSync(file) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    execFileSync("umount", [this.#mountPoint]);
    removeDirectory(this.#mountPoint);
  }
}
