import { readdirSync, readFileSync, readlinkSync, statfsSync, statSync } from "node:fs";
import { runProcess } from "../../base/index.ts";
import { innerPidOf, parseChildren, statusField } from "../../formats/proc/index.ts";
import { hasCode } from "../../shared/errors/index.ts";
import { MESSAGE_QUEUE } from "./describe-culprit.ts";
import type { FailureFacts, ProcessFacts } from "./explain-failure.ts";

const PROCESSES_MAX = 2000;
const DESCRIPTORS_MAX = 4096;
const SS_TIMEOUT_MS = 5000;
/** Type of the filesystem of POSIX message queues, which is mounted nowhere. */
const MQUEUE_MAGIC = 0x19800202;
/** A flag of open(2) that Node does not name. */
const O_PATH = 0o10000000;

/**
 * Reads from `/proc` what explains a failed dump: the tree runs on undisturbed, so that everything
 * CRIU stumbled over is still there. This costs the tree no second pause, unlike a second dump
 * with a fuller log.
 */
export async function readFailureFacts(options: {
  rootPid: number;
  netnsPath: string | null;
  log: string;
}): Promise<FailureFacts> {
  const processes = readTree(options.rootPid);
  const needsSockets = options.log.includes("half of stream unix connection");
  const peers = needsSockets ? await readUnixPeers(options.netnsPath) : [];
  return { rootPid: options.rootPid, processes, outsideSocketInodes: outsideOf(processes, peers) };
}

/** Returns the tree of processes below and with `rootPid`; what ends meanwhile is left out. */
function readTree(rootPid: number): ProcessFacts[] {
  const found: ProcessFacts[] = [];
  const open = [rootPid];
  while (open.length > 0 && found.length < PROCESSES_MAX) {
    const pid = open.shift() as number;
    const facts = whileItLives(() => readProcess(pid));
    if (facts !== undefined) found.push(facts);
    open.push(...(whileItLives(() => readChildren(pid)) ?? []));
  }
  return found;
}

function readProcess(pid: number): ProcessFacts {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return {
    pid,
    innerPid: innerPidOf(status) ?? pid,
    command: statusField(status, "Name"),
    tracerPid: Number(statusField(status, "TracerPid")),
    descriptors: readDescriptors(pid),
    unusualPaths: readNumbers(`/proc/${pid}/fd`).filter(
      (descriptor) => whileItLives(() => isUnusualPath(pid, descriptor)) === true,
    ),
  };
}

function readNumbers(directory: string): number[] {
  return readdirSync(directory).slice(0, DESCRIPTORS_MAX).map(Number);
}

function isUnusualPath(pid: number, descriptor: number): boolean {
  const info = readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, "utf8");
  const flags = Number.parseInt(/^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? "0", 8);
  if ((flags & O_PATH) === 0) return false;
  const kind = statSync(`/proc/${pid}/fd/${descriptor}`);
  return kind.isCharacterDevice() || kind.isFIFO() || kind.isSocket();
}

function readDescriptors(pid: number): Map<number, string> {
  const descriptors = new Map<number, string>();
  for (const descriptor of readNumbers(`/proc/${pid}/fd`)) {
    const target = whileItLives(() => readTarget(`/proc/${pid}/fd/${descriptor}`));
    if (target !== undefined) descriptors.set(descriptor, target);
  }
  return descriptors;
}

function readTarget(link: string): string {
  const target = readlinkSync(link);
  const isInRoot = /^\/[^/]+$/.test(target);
  return isInRoot && statfsSync(link).type === MQUEUE_MAGIC ? `${MESSAGE_QUEUE}${target}` : target;
}

function readChildren(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    parseChildren(readFileSync(`/proc/${pid}/task/${task}/children`, "utf8")),
  );
}

function whileItLives<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

interface UnixPeer {
  inode: string;
  peerInode: string;
}

/** CRIU's log names no inode below -v4; `ss` knows both ends of every unix connection. */
async function readUnixPeers(netnsPath: string | null): Promise<UnixPeer[]> {
  const enter = netnsPath === null ? [] : ["nsenter", `--net=${netnsPath}`, "--"];
  const [program = "ss", ...rest] = [...enter, "ss", "-xH"];
  try {
    const { stdout } = await runProcess([program, ...rest], { timeoutMs: SS_TIMEOUT_MS });
    return parseUnixPeers(stdout);
  } catch (error) {
    // The explanation then lacks the process, which is no reason to fail in another way.
    if (hasCode(error, "TOOL_FAILED")) return [];
    throw error;
  }
}

/** Parses `ss -xH`: type, state, two queues, path, inode, peer path, peer inode. */
export function parseUnixPeers(output: string): UnixPeer[] {
  return output.split("\n").flatMap((line) => {
    const words = line.trim().split(/\s+/);
    const [inode, peerInode] = [words.at(-3), words.at(-1)];
    const isConnected = words.length >= 8 && peerInode !== "0";
    return isConnected && inode !== undefined && peerInode !== undefined
      ? [{ inode, peerInode }]
      : [];
  });
}

function outsideOf(processes: readonly ProcessFacts[], peers: readonly UnixPeer[]): Set<string> {
  const inTree = new Set(
    processes.flatMap(({ descriptors }) =>
      [...descriptors.values()].flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []),
    ),
  );
  return new Set(
    peers
      .filter(({ inode, peerInode }) => inTree.has(inode) && !inTree.has(peerInode))
      .map(({ inode }) => inode),
  );
}
