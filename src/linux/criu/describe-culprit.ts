import type { Culprit, FailureFacts } from "./explain-failure.ts";

/** Before the name of a POSIX message queue, whose link in /proc looks like a file's path. */
export const MESSAGE_QUEUE = "mqueue:";

// Who holds what a dump failed on, and the words for it.

export function holderOf(facts: FailureFacts, target: string): Culprit | undefined {
  for (const process of facts.processes) {
    for (const [descriptor, held] of process.descriptors) {
      if (held === target) return { process, descriptor };
    }
  }
  return undefined;
}

export function holderOfOutsideSocket(facts: FailureFacts): Culprit | undefined {
  for (const inode of facts.outsideSocketInodes) {
    const culprit = holderOf(facts, `socket:[${inode}]`);
    if (culprit !== undefined) return culprit;
  }
  return undefined;
}

export function descriptorOf(culprit: Culprit | undefined): string {
  return culprit?.descriptor === undefined || culprit.descriptor < 0
    ? ""
    : ` (descriptor ${culprit.descriptor})`;
}

export function targetOf(match: RegExpExecArray, culprit: Culprit | undefined): string {
  const known = culprit?.process.descriptors.get(culprit.descriptor ?? -1);
  return known ?? match.groups?.["what"] ?? "a descriptor";
}

export function peerOf(match: RegExpExecArray): string {
  const named = [match.groups?.["peer"], match.groups?.["name"]].find((name) => name !== "(null)");
  return named ?? "an unnamed peer";
}

export function tracerOf(culprit: Culprit | undefined, facts: FailureFacts): string {
  const tracer = facts.processes.find(({ pid }) => pid === culprit?.process.tracerPid);
  return tracer === undefined
    ? "a debugger or strace outside of the session"
    : `process ${tracer.innerPid} (${tracer.command})`;
}

export function terminalOf(match: RegExpExecArray): string {
  return match.groups?.["index"] === undefined ? "it uses" : `/dev/pts/${match.groups["index"]}`;
}

export function megabytes(match: RegExpExecArray): string {
  return `${Math.ceil(Number(match.groups?.["sizeBytes"]) / 2 ** 20)} MiB`;
}

export function protocolOf(match: RegExpExecArray): string {
  return match.groups?.["number"] === "262"
    ? "multipath TCP"
    : `protocol ${match.groups?.["number"]}`;
}

export function socketOf(match: RegExpExecArray): string {
  const { what, number, tun } = match.groups ?? {};
  if (tun !== undefined) return "network device (/dev/net/tun)";
  return what === undefined ? "socket in an unknown state" : `socket of ${what} ${number}`;
}

/** CRIU names a mount by its path, or by its number and a path below the root. */
export function mountOf(match: RegExpExecArray): string {
  const path = match.groups?.["path"] ?? /\d+:(\S+)/.exec(match[0])?.[1];
  return path === undefined ? "mounts" : `mount ${path}`;
}

/** A descriptor of a POSIX message queue, as readFailureFacts writes it. */
export function messageQueueOf(culprit: Culprit | undefined): string | undefined {
  const target = culprit?.process.descriptors.get(culprit.descriptor ?? -1);
  return target?.startsWith(MESSAGE_QUEUE) ? target.slice(MESSAGE_QUEUE.length) : undefined;
}
