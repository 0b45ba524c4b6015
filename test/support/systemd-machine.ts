import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { eventually } from "./test-waypoint.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const COMMAND_TIMEOUT_MS = 120_000;

/**
 * A machine that systemd has started, in namespaces of its own: what it writes is in memory, on top of
 * this machine's files. It has one target only, so that nothing of this machine starts there.
 */
const BOOT = `
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
root=$1/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
mkdir "$root/sys/fs/cgroup/systemd" "$root/sys/fs/cgroup/unified"
mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
mkdir -p "$root$2"
mount --rbind "$2" "$root$2"
printf '[Unit]\\nDefaultDependencies=no\\nAllowIsolate=yes\\n' >"$root/etc/systemd/system/only.target"
cd "$root"
mkdir -p "$root/mnt"
pivot_root . mnt
umount -l /mnt
exec env -i container=test "PATH=$PATH" /lib/systemd/systemd --unit=only.target
`;

/** What a command in the machine has printed, and its exit code. */
export interface Outcome {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** A machine with systemd; disposing of it ends all that runs there. */
export class SystemdMachine implements AsyncDisposable {
  readonly #directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-systemd-"));
  readonly #outer: ChildProcess;

  private constructor() {
    const namespaces = ["--pid", "--mount", "--uts", "--ipc", "--cgroup", "--fork", "--kill-child"];
    const boot = ["bash", "-c", BOOT, "boot", this.#directory, ROOT];
    this.#outer = spawn("unshare", [...namespaces, ...boot], { stdio: "ignore" });
  }

  /** Resolves when systemd has started what it starts. */
  static async boot(): Promise<SystemdMachine> {
    const machine = new SystemdMachine();
    const state = () => machine.#run("systemctl is-system-running").stdout.trim();
    await eventually("a started systemd", state, (text) => text === "running");
    return machine;
  }

  /** Runs a line of shell there, with `$W` for the command line of Waypoint. */
  run(line: string): Outcome {
    return this.#run(`W='${path.join(ROOT, "bin/waypoint")}'; ${line}`);
  }

  #run(line: string): Outcome {
    const pid = this.#systemdPid();
    if (pid === null) return { status: null, stdout: "", stderr: "it has not begun" };
    const enter = ["--target", pid, "--mount", "--pid", "--uts", "--ipc", "--root", "--wd"];
    return spawnSync("nsenter", [...enter, "sh", "-c", line], {
      encoding: "utf8",
      timeout: COMMAND_TIMEOUT_MS,
      env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C.UTF-8" },
    });
  }

  #systemdPid(): string | null {
    const { pid } = this.#outer;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    return children === "" ? null : children;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#outer.once("close", resolve));
    this.#outer.kill("SIGKILL");
    await ended;
    rmSync(this.#directory, { recursive: true });
  }
}
