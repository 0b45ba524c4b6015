import { closeSync, openSync, readSync, statSync } from "node:fs";

/** Two lines for each interface of a session, of which there are two; more is another network. */
const TEXT_BYTES_MAX = 8 * 1024;

/**
 * Tells, once all processes of a network namespace have ended, whether it is as it was made.
 *
 * No process of a session may change its network itself: the capability for it is dropped, and the kernel's settings
 * are read-only. So what they can leave is sockets, which are counted, and what packets bring about: neighbours,
 * connections that wait, what is known of ways. Where not one packet was sent or received there is none of that.
 */
export class NetworkUse implements Disposable {
  /** Both are of the namespace, and tell of it whatever becomes of the process. */
  readonly #devFd: number;
  readonly #sockstatFd: number;

  private constructor(devFd: number, sockstatFd: number) {
    this.#devFd = devFd;
    this.#sockstatFd = sockstatFd;
  }

  /** Returns `null` for a process that has ended, or that has another network than `netnsPath`. */
  static ofProcess(pid: number, netnsPath: string): NetworkUse | null {
    const opened: number[] = [];
    const open = (file: string) => {
      const fd = openSync(file, "r");
      opened.push(fd);
      return fd;
    };
    try {
      // Stays that of this very process, whoever gets its number.
      const process = `/proc/self/fd/${open(`/proc/${pid}`)}`;
      const devFd = open(`${process}/net/dev`);
      const sockstatFd = open(`${process}/net/sockstat`);
      const isOurs = statSync(`${process}/ns/net`).ino === statSync(netnsPath).ino;
      if (isOurs) opened.splice(1);
      return isOurs ? new NetworkUse(devFd, sockstatFd) : null;
    } catch {
      return null;
    } finally {
      for (const fd of opened) closeSync(fd);
    }
  }

  /** **Requires** no process is left that may still do something. */
  isUntouched(): boolean {
    return hasNoSocket(read(this.#sockstatFd)) && hasNoPacket(read(this.#devFd));
  }

  [Symbol.dispose](): void {
    closeSync(this.#devFd);
    closeSync(this.#sockstatFd);
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

/** Tells from `/proc/net/sockstat` that no socket of a program is there, and no connection waits. */
export function hasNoSocket(text: string): boolean {
  return /^sockets: used 0$/m.test(text) && /^TCP: inuse 0 .*\btw 0 /m.test(text);
}

function read(fd: number): string {
  const bytes = Buffer.alloc(TEXT_BYTES_MAX);
  const count = readSync(fd, bytes, 0, bytes.length, 0);
  return count === bytes.length ? "" : bytes.toString("latin1", 0, count);
}
