import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { killProcess, pollUntil } from "../../src/base/index.ts";
import {
  type AheadOptions,
  type CriuProgram,
  copyAhead,
  type DumpResult,
  dump,
  protectAhead,
  restore,
  startPagesServer,
  type TrackedDump,
  warmUp,
} from "../../src/linux/criu/index.ts";
import { findCriu } from "../../src/linux/host/index.ts";
import { ROOT } from "./private-namespace.ts";

/** The program itself: a version manager's shim would add processes of its own. */
export const PYTHON = "/usr/bin/python3";

/**
 * Working directory of a tree's programs, below its root: the host's files are there beside it, and
 * a name at the root may be one of theirs.
 */
const OWN_DIR = "waypoint-tree";

/** Counts in memory and writes each number to a file it keeps open, `kept`. */
export const COUNTER = [
  PYTHON,
  "-c",
  `import subprocess, time
subprocess.Popen(["sleep", "1000"])
kept = open("kept", "w")
n = 0
while True:
    n += 1
    kept.seek(0); kept.write(str(n)); kept.flush()
    open("ready", "w").close()
    time.sleep(0.01)`,
];

/** Makes `$1` the root of namespaces with their own proc and devpts; becomes the rest, in `$2`. */
const BECOME_FIRST_PROCESS = `M=$1; D=$2; shift 2
mount --make-rprivate /
mount -t proc proc $M/proc
mount -t devpts -o newinstance,ptmxmode=0666 devpts $M/dev/pts
cd $M; mkdir -p .old; pivot_root . .old; umount -l /.old; rmdir /.old; cd $D
exec setsid "$@" </dev/null >/dev/null 2>&1`;

/** A running process tree with its root overlay and its network namespace. */
export interface Tree {
  pid: number;
  name: string;
  rootDir: string;
  /** Where its programs make their files. */
  ownDir: string;
}

/** Process trees under test, on a btrfs of their own; only for use in a private namespace. */
export class CriuTrees {
  readonly directory = "/run/trees";
  readonly #criu: CriuProgram;
  readonly #pids: number[] = [];
  #counter = 0;

  private constructor(criu: CriuProgram) {
    this.#criu = criu;
  }

  static async open(): Promise<CriuTrees> {
    const trees = new CriuTrees(await findTestCriu());
    await warmUp(trees.#criu);
    sh(`mkdir ${trees.directory}; cd ${trees.directory}; mkdir store merged images work
      gcc -O2 -static -o snapshot-hook ${ROOT}/native/criu-hooks/snapshot*.c
      gcc -O2 -static -o resume-hook ${ROOT}/native/criu-hooks/resume*.c
      truncate -s 1G store.img; mkfs.btrfs -q -m single store.img
      mount -o loop,noatime store.img store`);
    return trees;
  }

  /** Starts `program` as the first process of a tree and waits until it has made `ready`. */
  async start(...program: string[]): Promise<Tree> {
    const name = `s${++this.#counter}`;
    const rootDir = this.#makeRoot(name);
    const ownDir = path.join(rootDir, OWN_DIR);
    sh(`cd ${rootDir}; rm -rf dev ${OWN_DIR}; mkdir -p dev/pts ${OWN_DIR}
      mknod -m 666 dev/null c 1 3; mknod -m 666 dev/zero c 1 5; mknod -m 666 dev/urandom c 1 9
      ln -s pts/ptmx dev/ptmx`);
    const enter = [`--net=/run/netns/${name}`, "--", "unshare"];
    const namespaces = ["--mount", "--pid", "--fork", "--uts", "--ipc"];
    const shell = ["sh", "-ec", BECOME_FIRST_PROCESS, "sh", rootDir, `/${OWN_DIR}`];
    const launcher = spawn("nsenter", [...enter, ...namespaces, ...shell, ...program], {
      stdio: "ignore",
      detached: true,
    });
    const pid = await pollUntil("the first process", { timeoutMs: 60_000 }, () => {
      if (!existsSync(`${ownDir}/ready`)) return undefined;
      const children = readFileSync(`/proc/${launcher.pid}/task/${launcher.pid}/children`, "utf8");
      return Number(children.split(" ")[0]) || undefined;
    });
    this.#pids.push(pid);
    return { pid, name, rootDir, ownDir };
  }

  /** The own directory of the tree that is started next. */
  nextOwnDir(): string {
    return `${this.directory}/merged/s${this.#counter + 1}/${OWN_DIR}`;
  }

  dump(
    tree: Tree,
    checkpoint: string,
    imagesDir?: string,
    snapshotHookPath = `${this.directory}/snapshot-hook`,
    tracked?: TrackedDump,
  ): Promise<DumpResult> {
    const images = imagesDir ?? `${this.directory}/images/${checkpoint}`;
    const workDir = `${this.directory}/work/${checkpoint}`;
    mkdirSync(images, { recursive: true });
    mkdirSync(workDir, { recursive: true });
    return dump({
      criu: this.#criu,
      netnsPath: `/run/netns/${tree.name}`,
      pid: tree.pid,
      rootDir: tree.rootDir,
      imagesDir: images,
      workDir,
      snapshotHookPath,
      tracked,
      snapshotSource: `${this.directory}/store/${tree.name}`,
      snapshotTarget: `${this.directory}/store/${checkpoint}`,
      namesOf: () => [],
    });
  }

  /** Has its memory protected and copies it while it runs on, for the next dump to refer to. */
  async copyAhead(
    tree: Tree,
    tracked: AheadOptions["tracked"],
  ): Promise<{ imagesDir: string; copiedBytes: number }> {
    const imagesDir = `${this.directory}/images/${tracked.checkpointId}`;
    const workDir = `${this.directory}/work/${tracked.checkpointId}`;
    mkdirSync(`${imagesDir}/scratch`, { recursive: true });
    mkdirSync(workDir, { recursive: true });
    await protectAhead({
      criu: this.#criu,
      netnsPath: `/run/netns/${tree.name}`,
      pid: tree.pid,
      rootDir: tree.rootDir,
      imagesDir: `${imagesDir}/scratch`,
      workDir,
      snapshotHookPath: `${this.directory}/snapshot-hook`,
      namesOf: () => [],
      tracked,
    });
    return { imagesDir, ...(await copyAhead({ tracked }, imagesDir)) };
  }

  /** Restores a checkpoint beside what runs, after `change`, a shell script among its own files. */
  async restore(
    checkpoint: string,
    options: {
      change?: string;
      leaveStopped?: boolean;
      timeoutMs?: number;
      isLazy?: boolean;
      /** Gets the tree's own directory. */
      beforeResume?: (ownDir: string) => Promise<void>;
    } = {},
  ): Promise<Tree> {
    const { change = "", leaveStopped = false, timeoutMs = 30_000 } = options;
    const { isLazy = false, beforeResume } = options;
    const name = `r${++this.#counter}`;
    const rootDir = this.#makeRoot(name, checkpoint);
    const ownDir = path.join(rootDir, OWN_DIR);
    const workDir = `${this.directory}/work/${name}`;
    sh(`cd ${ownDir}; ${change}`);
    mkdirSync(workDir);
    const imagesDir = `${this.directory}/images/${checkpoint}`;
    const pagesServerPath = path.join(ROOT, ".tools/native/waypoint-pages");
    if (isLazy)
      await startPagesServer({
        pagesServerPath,
        imagesDir,
        workDir,
        sumsPath: null,
        isTouchedOnly: false,
      });
    const { pid } = await restore({
      criu: this.#criu,
      netnsPath: `/run/netns/${name}`,
      rootDir,
      imagesDir,
      workDir,
      isLazy,
      leaveStopped,
      timeoutMs,
      ...(beforeResume === undefined
        ? {}
        : {
            beforeResume: {
              hookPath: `${this.directory}/resume-hook`,
              run: () => beforeResume(ownDir),
            },
          }),
    });
    this.#pids.push(pid);
    return { pid, name, rootDir, ownDir };
  }

  /** The own directory of a checkpoint's tree, as it was captured. */
  capturedDir(checkpoint: string): string {
    return `${this.directory}/store/${checkpoint}/upper/${OWN_DIR}`;
  }

  /** Ends every tree. */
  async endAll(): Promise<void> {
    for (const pid of this.#pids.splice(0)) killProcess(pid);
    await pollUntil("the processes to end", { timeoutMs: 60_000 }, () =>
      treeProcesses().length === 0 ? true : undefined,
    );
  }

  /** A root overlay whose upper is a new subvolume, or a writable snapshot of a checkpoint's. */
  #makeRoot(name: string, checkpoint?: string): string {
    const subvolume = `${this.directory}/store/${name}`;
    const rootDir = `${this.directory}/merged/${name}`;
    const layers = `lowerdir=/,upperdir=${subvolume}/upper,workdir=${subvolume}/work`;
    const make =
      checkpoint === undefined
        ? `btrfs -q subvolume create ${subvolume}; mkdir ${subvolume}/upper ${subvolume}/work`
        : `btrfs -q subvolume snapshot ${this.directory}/store/${checkpoint} ${subvolume}
           rm -rf ${subvolume}/work; mkdir ${subvolume}/work`;
    sh(`${make}; mkdir ${rootDir}
      mount -t overlay overlay -o index=on,nfs_export=on,${layers} ${rootDir}
      ip netns add ${name}; ip -n ${name} link set lo up`);
    return rootDir;
  }
}

/** Runs a shell script that must succeed. */
export function sh(script: string): void {
  const { status, stderr } = spawnSync("sh", ["-ec", script], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${script}: ${stderr}`);
}

/** State letter of a process: S, R, D where it runs, T where it is stopped. */
export function stateOf(pid: number): string | undefined {
  return readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[2];
}

/** Processes of trees, also of half restored ones: those in a pid namespace below this run's. */
export function treeProcesses(): string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isInTree(name));
}

function isInTree(pid: string): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return /^NSpid:\t\d+\t/m.test(status) && !/^State:\tZ/m.test(status);
  } catch {
    return false; // It has ended.
  }
}

/** `$CRIU` as words, or the CRIU that the set-up chose. */
async function findTestCriu(): Promise<CriuProgram> {
  const words = process.env["CRIU"]?.split(" ");
  const enterPath = path.join(ROOT, ".tools/native/criu-enter");
  if (words !== undefined) return { argv: words, env: {}, enterPath };
  const preloadPath = path.join(ROOT, ".tools/native/criu-preload.so");
  return findCriu({ packageRoot: ROOT, preloadPath });
}
