import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { pollUntil } from "../../src/base/index.ts";

const run = promisify(execFile);
const IMAGE_BYTES = 16 * 1024 ** 3;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const MOUNT_TIMEOUT_MS = 10_000;
/** Mounts `$1/image`; a loop device that another program has just taken makes that fail once. */
const MOUNT = `for attempt in 1 2 3 4 5; do
  mount -o loop,noatime "$1/image" "$1/mounted" && touch "$1/mounted/ready" && exec sleep infinity
  sleep 0.2
done`;

/**
 * A btrfs of its own, as Waypoint's store is one, for those who copy files by reflink.
 *
 * Mounted in a namespace that a process keeps, and reached through that process's root: a mount
 * that all can see is copied into every namespace that others make meanwhile, and stays there.
 */
export class BtrfsTree implements AsyncDisposable {
  /** The mounted directory, for reading and writing files from outside. */
  readonly directory: string;
  readonly #parent: string;
  readonly #keeper: ChildProcess;

  private constructor(parent: string) {
    this.#parent = parent;
    const enter = ["--mount", "--propagation", "private", "--", "sh", "-c", MOUNT, "sh", parent];
    this.#keeper = spawn("unshare", enter, { stdio: "ignore" });
    this.directory = path.join(`/proc/${this.#keeper.pid}/root`, parent, "mounted");
  }

  /** Runs a program that sees the mount; it starts in the mounted directory. */
  async run(program: string, words: readonly string[]): Promise<void> {
    const enter = [`--mount=/proc/${this.#keeper.pid}/ns/mnt`, `--wd=${this.directory}`, "--"];
    await run("nsenter", [...enter, program, ...words], { maxBuffer: OUTPUT_BYTES_MAX });
  }

  static async open(): Promise<BtrfsTree> {
    const parent = mkdtempSync(path.join(os.tmpdir(), "waypoint-tree-"));
    const image = path.join(parent, "image");
    mkdirSync(path.join(parent, "mounted"));
    writeFileSync(image, "");
    truncateSync(image, IMAGE_BYTES);
    await run("mkfs.btrfs", ["-q", "-m", "single", image]);
    const tree = new BtrfsTree(parent);
    try {
      await pollUntil("a btrfs on a loop device", { timeoutMs: MOUNT_TIMEOUT_MS }, () =>
        existsSync(path.join(tree.directory, "ready")) ? true : undefined,
      );
      return tree;
    } catch (error) {
      await tree[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#keeper.exitCode === null) {
      const ended = once(this.#keeper, "exit");
      this.#keeper.kill("SIGKILL");
      await ended;
    }
    rmSync(this.#parent, { recursive: true });
  }
}
