import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { stateLayout } from "../../src/base/index.ts";

/** What a state directory's daemons have on the machine, by the ids that it belongs to. */
export interface Holdings {
  /** Instances that have a root filesystem mounted. */
  mounts: string[];
  /** Instances that have a network namespace. */
  networks: string[];
  /** Instances in which a PID 1 runs. */
  inits: string[];
  /** Instances that have files in the store. */
  instances: string[];
  /** Checkpoints that have a directory in the store. */
  checkpoints: string[];
  /** Checkpoints that have images in memory. */
  images: string[];
  /** CRIU processes at work for this directory. */
  criu: number[];
}

/**
 * Looks at the machine itself, not at what a daemon says of it.
 *
 * @param insidePid  the daemon, or another process in its mount namespace, which hides all this from
 *   the host
 */
export function holdingsOf(stateDir: string, insidePid: number): Holdings {
  const { storeDir, imagesDir, key } = stateLayout(stateDir);
  const inside = (...parts: string[]) => path.join(`/proc/${insidePid}/root`, ...parts);
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const netnsPrefix = `waypoint-${key}-`;
  return {
    mounts: mountPoints(insidePid)
      .filter((point) => path.dirname(point) === "/run/waypoint/roots")
      .map((point) => path.basename(point))
      .sort(),
    networks: readdirSync(inside("/run/netns"))
      .filter((name) => name.startsWith(netnsPrefix))
      .map((name) => name.slice(netnsPrefix.length))
      // Those made in advance are nobody's yet.
      .filter((id) => !id.startsWith("spare-"))
      .sort(),
    inits: processes.flatMap((pid) => initOf(pid, storeDir)).sort(),
    instances: readdirSync(inside(storeDir, "instances")).sort(),
    checkpoints: readdirSync(inside(storeDir, "checkpoints")).sort(),
    images: readdirSync(inside(imagesDir)).sort(),
    criu: processes.filter((pid) => isCriuOf(pid, stateDir)),
  };
}

/** A process in the mount namespace of a state directory's daemons, for when there is none of these. */
export async function stayInside(stateDir: string): Promise<Disposable & { pid: number }> {
  const { namespacePath } = stateLayout(stateDir);
  const inside = [`--mount=${namespacePath}`, "sh", "-c", "echo; exec sleep 600"];
  const child = spawn("nsenter", inside, { stdio: ["ignore", "pipe", "ignore"] });
  await once(child.stdout, "data"); // It is in there.
  return { pid: child.pid as number, [Symbol.dispose]: () => void child.kill("SIGKILL") };
}

/** What the catalog says that there should be. */
export function expectedHoldings(stateDir: string): Omit<Holdings, "images" | "criu"> {
  using catalog = new DatabaseSync(stateLayout(stateDir).catalogPath, { readOnly: true });
  const column = (query: string) =>
    catalog
      .prepare(query)
      .all()
      .map((row) => String(Object.values(row)[0]))
      .sort();
  const running = column("SELECT instance FROM sessions WHERE state = 'running'");
  return {
    mounts: running,
    networks: running,
    inits: running,
    instances: column("SELECT instance FROM sessions"),
    checkpoints: column("SELECT id FROM checkpoints"),
  };
}

function mountPoints(pid: number): string[] {
  return read(`/proc/${pid}/mountinfo`)
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "");
}

/** Returns the instance whose PID 1 a process is, if it is one. */
function initOf(pid: number, storeDir: string): string[] {
  if (!/^NSpid:.*\t1$/m.test(read(`/proc/${pid}/status`))) return [];
  const root = read(`/proc/${pid}/mountinfo`)
    .split("\n")
    .find((line) => line.split(" ")[4] === "/");
  const upper = /upperdir=([^, ]+)/.exec(root ?? "")?.[1] ?? "";
  const [instance = ""] = path.relative(path.join(storeDir, "instances"), upper).split("/");
  return instance === ".." || instance === "" ? [] : [instance];
}

function isCriuOf(pid: number, stateDir: string): boolean {
  const argv = read(`/proc/${pid}/cmdline`).split("\0");
  const isCriu = argv.includes("dump") || argv.includes("restore");
  return isCriu && argv.some((argument) => argument.startsWith(`${stateDir}/`));
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // It ended while it was being read.
  }
}
