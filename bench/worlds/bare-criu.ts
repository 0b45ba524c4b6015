import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { stateLayout } from "../../src/base/index.ts";

import { buildDumpArguments, buildRestoreArguments } from "../../src/linux/criu/index.ts";
import { findCriu, nativePath } from "../../src/linux/host/index.ts";

const run = promisify(execFile);
const PACKAGE_ROOT = path.resolve(import.meta.dirname, "../..");

/** A session whose daemon has ended, so that CRIU can be run on it by hand. */
export interface BareTarget {
  stateDir: string;
  instanceId: string;
  pid: number;
}

/**
 * CRIU by hand on a session without Waypoint: the same options, the same tmpfs, in the same
 * namespaces, but no snapshot, no daemon and no records: the floor.
 */
export class BareCriu implements Disposable {
  readonly #command: (program: string[]) => Promise<void>;
  readonly #criuArgv: readonly string[];
  readonly #workDir: string;
  readonly #firstImagesDir: string;
  #imagesDir: string;
  /** "" where there is none. */
  #olderImagesDir = "";
  #dumps = 0;
  readonly #rootDir: string;
  #pid: number;
  #isRestored = false;

  private constructor(
    target: BareTarget,
    criu: Awaited<ReturnType<typeof findCriu>>,
    inside: string[],
  ) {
    const layout = stateLayout(target.stateDir);
    this.#pid = target.pid;
    this.#criuArgv = criu.argv;
    this.#workDir = path.join(layout.stateDir, "bench");
    this.#firstImagesDir = this.#imagesDir = path.join(layout.imagesDir, "bench");
    this.#rootDir = `/run/waypoint/roots/${target.instanceId}`;
    this.#command = async (program) => {
      await run("nsenter", [...inside, ...program], { env: { ...process.env, ...criu.env } });
    };
  }

  static async open(target: BareTarget): Promise<BareCriu> {
    const preloadPath = nativePath(PACKAGE_ROOT, "criu-preload.so");
    const criu = await findCriu({ packageRoot: PACKAGE_ROOT, preloadPath });
    const layout = stateLayout(target.stateDir);
    const netnsPath = `/run/netns/waypoint-${layout.key}-${target.instanceId}`;
    // The file of the network namespace can be seen from inside the mount namespace only.
    const inside = [
      ...[`--mount=${layout.namespacePath}`, "--"],
      ...["nsenter", `--net=${netnsPath}`, "--"],
    ];
    const bare = new BareCriu(target, criu, inside);
    mkdirSync(bare.#workDir, { recursive: true });
    await bare.#command(["mkdir", bare.#imagesDir]);
    return bare;
  }

  /** PID 1 of the tree, as the host sees it. */
  get pid(): number {
    return this.#pid;
  }

  /** Dumps the tree, which runs on; over the last images, unless {@link turnImages} came between. */
  async dump(): Promise<void> {
    await this.#command([...this.#criuArgv, ...this.#dumpArguments()]);
  }

  /**
   * Gives the next dump a directory of its own, and removes the images of the one before the last.
   * Checkpoints are kept, so memory that was just given back is not what the next one gets.
   */
  async turnImages(): Promise<void> {
    const [older, last] = [this.#olderImagesDir, this.#imagesDir];
    this.#dumps += 1;
    this.#olderImagesDir = last;
    this.#imagesDir = `${this.#firstImagesDir}-${this.#dumps}`;
    const script = 'if [ -n "$1" ]; then rm -r "$1"; fi; mkdir "$2"';
    await this.#command(["sh", "-ec", script, "sh", older, this.#imagesDir]);
  }

  /** Dumps the tree and ends it, so that it can be restored in its place. */
  async dumpAndEnd(): Promise<void> {
    const leaving = this.#dumpArguments().filter((word) => word !== "--leave-running");
    await this.#command([...this.#criuArgv, ...leaving]);
  }

  /** Restores the tree that {@link dumpAndEnd} has ended; returns when it runs. */
  async restore(): Promise<void> {
    const pidFile = path.join(this.#workDir, "pid");
    rmSync(pidFile, { force: true });
    const words = buildRestoreArguments({ ...this.#places("restore.log"), pidFile });
    await this.#command([...this.#criuArgv, ...words]);
    this.#isRestored = true;
    this.#pid = Number(readFileSync(pidFile, "utf8"));
  }

  /** Ends what no daemon knows of: a restored tree. */
  [Symbol.dispose](): void {
    if (this.#isRestored) process.kill(this.#pid, "SIGKILL");
    rmSync(this.#workDir, { recursive: true, force: true });
  }

  #dumpArguments(): string[] {
    const words = buildDumpArguments({
      ...this.#places("dump.log"),
      pid: this.#pid,
      snapshotHookPath: "",
    });
    words.splice(words.indexOf("--action-script"), 2);
    return words;
  }

  #places(logName: string) {
    const [rootDir, imagesDir, workDir] = [this.#rootDir, this.#imagesDir, this.#workDir];
    return { rootDir, imagesDir, workDir, logName };
  }
}
