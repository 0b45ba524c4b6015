import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { InitLink, type ProgramSpec, SHELL_FILES } from "../../../src/linux/terminal/index.ts";

const PROJECT = join(import.meta.dirname, "../../..");
const NATIVE = join(PROJECT, ".tools/native");

/** A session on a throw-away overlay of the host's root, for tests; no daemon, no network. */
export interface Sandbox extends AsyncDisposable {
  /** Host pid of the session's first process. */
  pid: number;
  /** Directory with `merged` (seen only inside the mount namespace of `holderPid`), and room for files. */
  directory: string;
  holderPid: number;
  socketPath: string;
  link: InitLink;
}

const MOUNT = `set -e
mount --make-rprivate /
mount -t tmpfs none /run
cd "$1"
mkdir upper work merged
mount -t overlay overlay -o index=on,nfs_export=on,lowerdir=/,upperdir=upper,workdir=work merged
rm -rf merged/dev
mkdir -p merged/dev/pts merged/dev/shm merged/run/waypoint/empty merged/proc merged/sys
for n in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 "merged/dev/\${n%:*}" c 1 "\${n#*:}"; done
mknod -m 666 merged/dev/tty c 5 0
chmod 666 merged/dev/*[!s] 2>/dev/null || true
ln -s pts/ptmx merged/dev/ptmx
ln -s /proc/self/fd merged/dev/fd
cp bashrc merged/run/waypoint/bashrc
cp waypoint-init merged/run/waypoint/init
(exec sleep 3600 </dev/null >/dev/null 2>&1) & echo $!
exec "$1/waypoint-init" launch --root "$1/merged" --netns - --hostname test
`;

/** Starts a session; disposing ends it and removes everything. */
export async function openSandbox(): Promise<Sandbox> {
  execFileSync("sh", [join(PROJECT, "native/build.sh"), NATIVE]);
  const directory = mkdtempSync("/var/tmp/waypoint-test-");
  copyFileSync(join(NATIVE, "waypoint-init"), join(directory, "waypoint-init"));
  writeFileSync(join(directory, "bashrc"), SHELL_FILES["bashrc"] ?? "");
  const started = spawnSync("unshare", ["-m", "sh", "-c", MOUNT, "sh", directory], {
    encoding: "utf8",
  });
  const [holderPid = 0, pid = 0] = started.stdout.trim().split("\n").map(Number);
  const release = () => {
    for (const each of [pid, holderPid]) if (each > 0) endProcess(each);
    rmSync(directory, { recursive: true, force: true });
  };
  if (started.status !== 0) {
    release();
    throw new Error(`sandbox: ${started.stderr}`);
  }
  const socketPath = `/proc/${pid}/root/run/waypoint/init.sock`;
  const link = await InitLink.connect(socketPath);
  return {
    pid,
    directory,
    holderPid,
    socketPath,
    link,
    async [Symbol.asyncDispose]() {
      link.end(new Error("test is over"));
      release();
    },
  };
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    return; // it has ended
  }
  const endsAtMs = performance.now() + 5000;
  const isThere = () =>
    spawnSync("sh", ["-c", `[ -e /proc/${pid}/ns/pid ] && readlink /proc/${pid}/ns/pid`]).status ===
    0;
  while (isThere() && performance.now() < endsAtMs) spawnSync("sleep", ["0.01"]);
}

/** A program as root in the session. */
export function rootProgram(argv: string[], env: Record<string, string> = {}): ProgramSpec {
  const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  return {
    argv,
    env: { PATH: path, HOME: "/root", TERM: "xterm-256color", ...env },
    cwd: "/",
    uid: 0,
    gid: 0,
    groups: [0],
  };
}

/** The session's bash with the integration. */
export function bashProgram(): ProgramSpec & { cols: number; rows: number } {
  return { ...rootProgram(["bash", "--rcfile", "/run/waypoint/bashrc", "-i"]), cols: 80, rows: 24 };
}
