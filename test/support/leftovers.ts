import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { stateLayout } from "../../src/base/index.ts";
import type { Waypoint } from "../../src/index.ts";

const run = promisify(execFile);

/** What a Waypoint has on the machine while it runs, by which its remains are found later. */
export interface Traces {
  stateDir: string;
  /** Namespaces of the daemon and its sessions, as /proc/PID/ns names them. */
  namespaces: ReadonlySet<string>;
}

/** Notes the namespaces in which the daemon and the running sessions are, other than this one's. */
export async function noteTraces(waypoint: Waypoint, daemonPid: number): Promise<Traces> {
  const sessions = await waypoint.sessions();
  const pids = [daemonPid, ...sessions.flatMap(({ pid }) => pid ?? [])];
  const ownNamespaces = new Set(namespacesOf(process.pid));
  const namespaces = pids.flatMap(namespacesOf).filter((name) => !ownNamespaces.has(name));
  return { stateDir: waypoint.stateDir, namespaces: new Set(namespaces) };
}

/** Returns a line for everything that is still on the machine. */
export async function findLeftovers({ stateDir, namespaces }: Traces): Promise<string[]> {
  const { key } = stateLayout(stateDir);
  const processes = otherPids().filter(
    (pid) =>
      namespacesOf(pid).some((name) => namespaces.has(name)) ||
      read(pid, "cmdline").includes(stateDir) ||
      read(pid, "mountinfo").includes(stateDir),
  );
  const links = await linesWith(["ip", "-d", "link"], `waypoint:${key}:`);
  const tables = await linesWith(["nft", "list", "tables"], key);
  const groups = groupsOf(`waypoint-${key}`);
  const loops = await linesWith(["losetup", "--list", "--noheadings"], stateDir);
  return [
    ...processes.map((pid) => `process ${pid}: ${read(pid, "cmdline").replaceAll("\0", " ")}`),
    ...links.map((line) => `link: ${line}`),
    ...tables.map((line) => `nft table: ${line}`),
    ...groups.map((directory) => `control group: ${directory}`),
    ...loops.map((line) => `loop device: ${line}`),
  ];
}

function groupsOf(name: string): string[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => / - cgroup2? /.test(line))
    .map((line) => path.join(line.split(" ")[4] ?? "", name))
    .filter((directory) => existsSync(directory));
}

async function linesWith(argv: [string, ...string[]], part: string): Promise<string[]> {
  const [program, ...words] = argv;
  const { stdout } = await run(program, words);
  return stdout.split("\n").filter((line) => line.includes(part));
}

function otherPids(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid);
}

function namespacesOf(pid: number): string[] {
  return ["mnt", "net", "pid", "ipc", "uts"].flatMap((kind) => {
    try {
      return readlinkSync(`/proc/${pid}/ns/${kind}`);
    } catch {
      return []; // It has ended.
    }
  });
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
