import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { type CountedProtocol, countsSockets } from "../../formats/proc/index.ts";

/** A socket that a live program waits at for others. */
export interface LiveListener {
  protocol: "tcp" | "udp" | "unix";
  /** Path of a unix socket; an abstract one begins with "@". */
  address: string;
  port: number | null;
  /** Its owner, by its process id inside the session. */
  pid: number;
}

interface End {
  address: string;
  port: number;
}

/** A connection of a live program. */
export interface LiveConnection {
  protocol: "tcp" | "udp";
  local: End;
  remote: End;
  pid: number;
}

/** A process, by its process ids on the host and inside the session. */
interface Owner {
  hostPid: number;
  pid: number;
}

const TABLES = [
  ["tcp", "tcp"],
  ["tcp", "tcp6"],
  ["udp", "udp"],
  ["udp", "udp6"],
] as const;
/** What counts the sockets of a table. */
const COUNTS: Readonly<Record<string, readonly [file: string, protocol: CountedProtocol]>> = {
  tcp: ["sockstat", "TCP"],
  tcp6: ["sockstat6", "TCP"],
  udp: ["sockstat", "UDP"],
  udp6: ["sockstat6", "UDP"],
};
const STATE = { close: 0x07, listen: 0x0a } as const;
/** `/proc/net/unix`: a flag of sockets that wait for others, and the kind without connections. */
const WAITS = 0x10000;
const SOCK_DGRAM = 2;
const MAPPED_PREFIX = "0000000000000000FFFF0000";

/** Returns the sockets of processes that share a network, the first owner of each. */
export function readLiveSockets(owners: readonly Owner[]) {
  const pids = ownersBySocket(owners);
  const first = owners[0]?.hostPid;
  const listeners: LiveListener[] = [];
  const connections: LiveConnection[] = [];
  if (first === undefined) return { listeners, connections };
  for (const [protocol, table] of TABLES) {
    for (const fields of tableLines(first, table)) {
      const [, local, remote, state, , , , , , inode] = fields;
      const pid = pids.get(inode ?? "");
      if (pid === undefined || local === undefined || remote === undefined) continue;
      const [here, there] = [parseEnd(local), parseEnd(remote)];
      const number = Number.parseInt(state ?? "", 16);
      const isFree = number === STATE.close || number === STATE.listen;
      if (!isFree) connections.push({ protocol, local: here, remote: there, pid });
      else if ((number === STATE.listen || protocol === "udp") && here.port !== 0)
        listeners.push({ protocol, ...here, pid });
    }
  }
  return { listeners: [...listeners, ...unixListeners(first, pids)], connections };
}

/** Tells whether any program listens on a TCP port in the network of this process. */
export function isListeningOn(hostPid: number, port: number): boolean {
  return ["tcp", "tcp6"].some((table) =>
    tableLines(hostPid, table).some(
      ([, local = "", , state = ""]) =>
        Number.parseInt(state, 16) === STATE.listen && parseEnd(local).port === port,
    ),
  );
}

function unixListeners(hostPid: number, pids: ReadonlyMap<string, number>): LiveListener[] {
  return tableLines(hostPid, "unix").flatMap((fields) => {
    const [, , , flags = "0", type = "0", , inode = "", ...name] = fields;
    const pid = pids.get(inode);
    const isFree = Number.parseInt(type, 16) === SOCK_DGRAM;
    const isWaiting = (Number.parseInt(flags, 16) & WAITS) !== 0 || isFree;
    if (pid === undefined || name.length === 0 || !isWaiting) return [];
    return [{ protocol: "unix" as const, address: name.join(" "), port: null, pid }];
  });
}

function tableLines(hostPid: number, table: string): string[][] {
  const read = (file: string) => readFileSync(`/proc/${hostPid}/net/${file}`, "utf8");
  try {
    const counted = COUNTS[table];
    if (counted !== undefined && !countsSockets(read(counted[0]), [counted[1]])) return [];
    return read(table)
      .split("\n")
      .slice(1)
      .filter((line) => line !== "")
      .map((line) => line.trim().split(/\s+/));
  } catch {
    return []; // It ended, or the kernel has no IPv6.
  }
}

function ownersBySocket(owners: readonly Owner[]): Map<string, number> {
  const pids = new Map<string, number>();
  for (const { hostPid, pid } of owners) {
    for (const inode of socketsOf(hostPid)) if (!pids.has(inode)) pids.set(inode, pid);
  }
  return pids;
}

function socketsOf(hostPid: number): string[] {
  try {
    return readdirSync(`/proc/${hostPid}/fd`).flatMap((descriptor) => {
      const target = readlinkSync(`/proc/${hostPid}/fd/${descriptor}`);
      return /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? [];
    });
  } catch {
    return []; // It ended, or closed a descriptor, while it was being read.
  }
}

/** Address and port in hexadecimal, the address word by word as it lies in memory. */
function parseEnd(text: string): End {
  const [address = "", port = ""] = text.split(":");
  return { address: parseAddress(address), port: Number.parseInt(port, 16) };
}

function parseAddress(hex: string): string {
  const isMapped = hex.length === 32 && hex.startsWith(MAPPED_PREFIX);
  const bytes = Buffer.from(isMapped ? hex.slice(24) : hex, "hex");
  for (let at = 0; at + 4 <= bytes.length; at += 4) bytes.subarray(at, at + 4).reverse();
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2));
  // URL knows the canonical short form.
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(":")}]`).hostname.slice(
    1,
    -1,
  );
}
