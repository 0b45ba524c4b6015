import { closeSync, openSync, readSync, statSync } from "node:fs";
import { isSystemError } from "../../base/index.ts";

/** All counters of the kernel's take less; a table that is longer is not empty. */
const TEXT_BYTES_MAX = 64 * 1024;

/** What is not a count in the kernel's lists of counts. */
const NO_COUNTS = new Set([
  "Forwarding",
  "DefaultTTL",
  "RtoAlgorithm",
  "RtoMin",
  "RtoMax",
  "MaxConn",
]);

/**
 * What a namespace tells of itself, below `/proc/PID/net`, and how it reads where nobody has used it. Packets that no
 * interface counts are there: a fragment that waits for others, and what a socket says to itself by multicast.
 */
const TELLTALES: Readonly<Record<string, (text: string) => boolean>> = {
  dev: hasNoPacket,
  sockstat: hasNoSocket,
  sockstat6: hasNoSocket6,
  snmp: hasNoCount,
  netstat: hasNoCount,
  snmp6: (text) => /^(?:\w+\s+0\n)+$/.test(text),
  nf_conntrack: (text) => text === "",
  ip6_flowlabel: (text) => /^Label.*\n$/.test(text),
};
/** Not there without IPv6, or as the kernel was built. */
const OPTIONAL = new Set(["sockstat6", "snmp6", "nf_conntrack", "ip6_flowlabel"]);

/**
 * Tells, once all processes of a network namespace have ended, whether it is as it was made.
 *
 * No process of a session may change its network itself: the capability for it is dropped, and the kernel's settings
 * are read-only. So what they can leave is sockets, which are counted, and what packets bring about: neighbours,
 * connections that wait, what is known of ways. Where the kernel has counted nothing there is none of that.
 */
export class NetworkUse implements Disposable {
  /** Those of the namespace, which tell of it whatever becomes of the process. */
  readonly #files: ReadonlyMap<string, number>;

  private constructor(files: ReadonlyMap<string, number>) {
    this.#files = files;
  }

  /** Returns `null` for a process that has ended, or that has another network than `netnsPath`. */
  static ofProcess(pid: number, netnsPath: string): NetworkUse | null {
    const files = new Map<string, number>();
    let processFd: number | null = null;
    let isOurs = false;
    try {
      // Stays that of this very process, whoever gets its number.
      processFd = openSync(`/proc/${pid}`, "r");
      const process = `/proc/self/fd/${processFd}`;
      for (const name of Object.keys(TELLTALES)) {
        const fd = openTelltale(`${process}/net/${name}`, OPTIONAL.has(name));
        if (fd !== null) files.set(name, fd);
      }
      isOurs = statSync(`${process}/ns/net`).ino === statSync(netnsPath).ino;
    } catch {
      // It has ended.
    } finally {
      if (processFd !== null) closeSync(processFd);
      if (!isOurs) closeAll(files);
    }
    return isOurs ? new NetworkUse(files) : null;
  }

  /** **Requires** no process is left that may still do something. */
  isUntouched(): boolean {
    return [...this.#files].every(([name, fd]) => TELLTALES[name]?.(read(fd)) === true);
  }

  [Symbol.dispose](): void {
    closeAll(this.#files);
  }
}

/** Which networks are as every new one is, by the instances that have them. */
export class NetworkUses {
  /** Their namespaces have nothing but what each has. */
  readonly #plain = new Set<string>();
  /** Those that are about to be removed. */
  readonly #ending = new Map<string, NetworkUse>();

  /** Notes a namespace that was made without anything for sockets of its own. */
  made(id: string): void {
    this.#plain.add(id);
  }

  rename(fromId: string, toId: string): void {
    if (this.#plain.delete(fromId)) this.#plain.add(toId);
  }

  /** Begins to follow one; `pid` is of a process in it. */
  beforeEnd(id: string, pid: number, netnsPath: string): void {
    this.#unfollow(id);
    const use = this.#plain.has(id) ? NetworkUse.ofProcess(pid, netnsPath) : null;
    if (use !== null) this.#ending.set(id, use);
  }

  /** Tells once, when no process of it is left, whether it was never used. */
  endsUntouched(id: string): boolean {
    const isUntouched = this.#ending.get(id)?.isUntouched() ?? false;
    this.#unfollow(id);
    return isUntouched;
  }

  forget(id: string): void {
    this.#unfollow(id);
    this.#plain.delete(id);
  }

  /** What is held open keeps a namespace from its end. */
  #unfollow(id: string): void {
    this.#ending.get(id)?.[Symbol.dispose]();
    this.#ending.delete(id);
  }
}

/** Tells from `/proc/net/dev` that no interface has sent, received or dropped anything. */
export function hasNoPacket(text: string): boolean {
  const [, , ...lines] = text.split("\n");
  const counts = lines.filter((line) => line !== "").map((line) => line.split(":")[1]);
  return counts.length > 0 && counts.every((each) => each !== undefined && /^[\s0]+$/.test(each));
}

/** Tells from `/proc/net/sockstat` that there is no socket, no connection that waits and no fragment. */
export function hasNoSocket(text: string): boolean {
  const isClear = /^sockets: used 0$/m.test(text) && /^TCP: inuse 0 .*\btw 0 /m.test(text);
  return isClear && hasNoSocket6(text) && /^FRAG: inuse 0 memory 0$/m.test(text);
}

function hasNoSocket6(text: string): boolean {
  return text !== "" && !/\binuse [1-9]/.test(text);
}

/** Tells from `/proc/net/snmp`, in which names and numbers take turns, that nothing was counted. */
export function hasNoCount(text: string): boolean {
  const lines = text.split("\n").filter((line) => line !== "");
  if (lines.length === 0 || lines.length % 2 !== 0) return false;
  return lines.every((line, at) => at % 2 === 0 || isNothing(lines[at - 1] ?? "", line));
}

function isNothing(names: string, numbers: string): boolean {
  const values = numbers.split(" ").slice(1);
  const keys = names.split(" ").slice(1);
  if (keys.length !== values.length) return false;
  return keys.every((key, at) => values[at] === "0" || NO_COUNTS.has(key));
}

function openTelltale(file: string, isOptional: boolean): number | null {
  try {
    return openSync(file, "r");
  } catch (error) {
    if (isOptional && isSystemError(error, "ENOENT")) return null;
    throw error;
  }
}

function closeAll(files: ReadonlyMap<string, number>): void {
  for (const fd of files.values()) closeSync(fd);
}

/** Returns all of it; what does not fit is like nothing that is expected. */
function read(fd: number): string {
  const bytes = Buffer.alloc(TEXT_BYTES_MAX);
  let length = 0;
  for (let count = -1; count !== 0 && length < bytes.length; length += count) {
    count = readSync(fd, bytes, length, bytes.length - length, length);
  }
  return length === bytes.length ? "too much" : bytes.toString("latin1", 0, length);
}
