import {
  descriptorOf,
  holderOf,
  holderOfOutsideSocket,
  megabytes,
  messageQueueOf,
  mountOf,
  peerOf,
  protocolOf,
  socketOf,
  targetOf,
  terminalOf,
  tracerOf,
} from "./describe-culprit.ts";
import { DESCRIPTOR_PATTERNS } from "./descriptor-patterns.ts";
import type { FailurePattern } from "./explain-failure.ts";
import { PROCESS_STATE_PATTERNS } from "./process-state-patterns.ts";
import { PROCESSES_FULL_PATTERN } from "./processes-full-pattern.ts";
import { SOCKET_PATTERNS } from "./socket-patterns.ts";
import { UNUSUAL_OBJECT_PATTERNS } from "./unusual-object-patterns.ts";

const IO_URING = "anon_inode:[io_uring]";
const SKIP_HINT =
  "End that program or let it close the resource, then try again; a checkpoint of the files alone is possible at any time.";

/** Failures of a dump, the most telling first. */
export const DUMP_FAILURE_PATTERNS: readonly FailurePattern[] = [
  PROCESSES_FULL_PATTERN,
  {
    reason: "images_full",
    code: "STORE_FULL",
    pattern: /(?:bfd|page-xfer|image).*(?:No space left on device|Disk quota exceeded)/,
    resource: () => null,
    sentence: () => "There is no space left for the memory images of the checkpoint.",
    hint: "Free memory or raise the image budget, or forget checkpoints that are not needed.",
  },
  {
    reason: "store_full",
    code: "STORE_FULL",
    pattern: /No space left on device|Disk quota exceeded/,
    resource: () => null,
    sentence: () => "There is no space left in the store for the snapshot of the files.",
    hint: "Forget checkpoints that are not needed, or enlarge the store.",
  },
  {
    reason: "snapshot_failed",
    code: "STORE_FAILED",
    pattern: /Script (?<path>\S+) exited with/,
    resource: () => null,
    sentence: (_who, match) =>
      `The snapshot of the session's files failed (${match.groups?.["path"]}).`,
    hint: "detail.criuErrors has what the snapshot program said.",
  },
  {
    reason: "io_uring",
    // Descriptors come to CRIU over a unix socket, and the kernel refuses to pass on an io_uring.
    pattern: /pie: \d+: Error .*send_fds failed \(-22\)/,
    findCulprit: (match, { processes }) => {
      const blamed = /Dump files \(pid: (\d+)\)/.exec(match.input)?.[1];
      const process = processes.find(({ pid }) => pid === Number(blamed));
      const held = process && [...process.descriptors].find(([, target]) => target === IO_URING);
      return process && held && { process, descriptor: held[0] };
    },
    applies: (_match, culprit) => culprit?.descriptor !== undefined,
    resource: (_match, culprit) => `io_uring${descriptorOf(culprit)}`,
    sentence: (who, _match, culprit) =>
      `${who} holds an io_uring${descriptorOf(culprit)}, which cannot be checkpointed.`,
    hint: "Inside a session io_uring is refused, so this process was started otherwise; restart it.",
  },
  {
    reason: "descriptor",
    pattern: /pie: \d+: Error .*send_fds failed/,
    resource: () => "descriptor that cannot be passed on",
    sentence: (who) => `${who} holds a descriptor that the kernel does not pass on to CRIU.`,
    hint: SKIP_HINT,
  },
  {
    reason: "descriptor",
    pattern: /Can't dump file (?<fd>\d+) of that type \[\d+\] \((?<what>[^)]+)\)/,
    resource: (match, culprit) => `${targetOf(match, culprit)}${descriptorOf(culprit)}`,
    sentence: (who, match, culprit) =>
      `${who} holds ${targetOf(match, culprit)}${descriptorOf(culprit)}, which cannot be checkpointed.`,
    hint: SKIP_HINT,
  },
  {
    reason: "memfd_secret",
    pattern: /Can't lookup mount=\d+ for fd=(?<fd>-?\d+) path=\/secretmem/,
    resource: (_match, culprit) => `memfd_secret${descriptorOf(culprit)}`,
    sentence: (who) => `${who} uses secret memory (memfd_secret), which cannot be checkpointed.`,
    hint: SKIP_HINT,
  },
  {
    reason: "huge_memfd",
    // Ordinary ones are found; those of huge pages lie in a mount that no namespace shows.
    pattern:
      /Can't lookup mount=\d+ for fd=(?<fd>-?\d+) path=\/memfd:(?<name>.*?)(?: \(deleted\))?$/m,
    resource: (match, culprit) => `memfd ${match.groups?.["name"]}${descriptorOf(culprit)}`,
    sentence: (who, match, culprit) =>
      `${who} has the memfd ${match.groups?.["name"]} of huge pages${descriptorOf(culprit)}, which cannot be checkpointed.`,
    hint: SKIP_HINT,
  },
  {
    reason: "thread_pidfd",
    pattern: /pidfd: PIDFD_THREAD flag is currently not supported/,
    resource: () => "pidfd of a thread",
    sentence: (who) =>
      `${who} has a pidfd of a thread (PIDFD_THREAD), which cannot be checkpointed.`,
    hint: SKIP_HINT,
  },
  {
    reason: "message_queue",
    pattern: /Can't lookup mount=\d+ for fd=(?<fd>-?\d+) path=/,
    applies: (_match, culprit) => messageQueueOf(culprit) !== undefined,
    resource: (_match, culprit) =>
      `POSIX message queue ${messageQueueOf(culprit)}${descriptorOf(culprit)}`,
    sentence: (who, _match, culprit) =>
      `${who} has the POSIX message queue ${messageQueueOf(culprit)} open${descriptorOf(culprit)}, which cannot be checkpointed.`,
    hint: "Use a queue of System V or a socket instead, or end that program for the checkpoint.",
  },
  {
    reason: "outside_file",
    pattern: /Can't lookup mount=\d+ for fd=(?<fd>-?\d+) path=(?<path>.+)/,
    resource: (match, culprit) => `${match.groups?.["path"]}${descriptorOf(culprit)}`,
    sentence: (who, match, culprit) =>
      `${who} has ${match.groups?.["path"]} open${descriptorOf(culprit)}, which lies outside of the session.`,
    hint: "It was inherited from outside; start the program inside the session.",
  },
  {
    reason: "unix_stream",
    pattern:
      /Can't dump half of stream unix connection\. name: (?<name>.*); peer name: (?<peer>.*)/,
    findCulprit: (_match, facts) => holderOfOutsideSocket(facts),
    resource: (match, culprit) => `unix socket to ${peerOf(match)}${descriptorOf(culprit)}`,
    sentence: (who, match, culprit) =>
      `${who} has a unix connection to ${peerOf(match)}${descriptorOf(culprit)}, whose other end is outside of the session.`,
    hint: "Close that connection (its other end is no part of the checkpoint), then try again.",
  },
  {
    reason: "unix_stream",
    // The other end belongs to another network namespace, so CRIU does not find it at all.
    pattern: /Unix socket (?<inode>\d+) not found/,
    findCulprit: (match, facts) => holderOf(facts, `socket:[${match.groups?.["inode"]}]`),
    resource: (_match, culprit) => `unix socket${descriptorOf(culprit)}`,
    sentence: (who, _match, culprit) =>
      `${who} has a unix connection${descriptorOf(culprit)}, whose other end is outside of the session.`,
    hint: "Close that connection (its other end is no part of the checkpoint), then try again.",
  },
  {
    reason: "outside_terminal",
    pattern: /Found slave peer index (?<index>\d+) without correspond master|Found dangling tty/,
    findCulprit: (match, facts) => holderOf(facts, `/dev/pts/${match.groups?.["index"]}`),
    resource: (match, culprit) => `terminal ${terminalOf(match)}${descriptorOf(culprit)}`,
    sentence: (who, match, culprit) =>
      `${who} has the terminal ${terminalOf(match)} open${descriptorOf(culprit)}, whose owner is outside of the session.`,
    hint: "Programs of a session must run in its own terminals; end this one and start it there.",
  },
  {
    reason: "ghost_file",
    pattern: /Can't dump ghost file (?<path>.+) of (?<sizeBytes>\d+) size/,
    findCulprit: (match, facts) => holderOf(facts, `${match.groups?.["path"]} (deleted)`),
    resource: (match) => `deleted file ${match.groups?.["path"]}`,
    sentence: (who, match) =>
      `${who} has the deleted file ${match.groups?.["path"]} of ${megabytes(match)} open, more than fits into a checkpoint.`,
    hint: "Let the program close it, or keep the file's name until after the checkpoint.",
  },
  {
    reason: "nested_namespace",
    pattern: /Can't dump nested (?<kind>\w+) namespace for (?<pid>\d+)/,
    resource: (match) => `${match.groups?.["kind"]} namespace`,
    sentence: (who, match) =>
      `${who} runs in a ${match.groups?.["kind"]} namespace of its own, which cannot be checkpointed.`,
    hint: "Containers and sandboxes (docker, bwrap, unshare) cannot be part of a session; end them first.",
  },
  {
    reason: "traced",
    // A process that is just ending cannot be interrupted either, and is none to fail on.
    pattern:
      /Unable to interrupt task: (?<pid>\d+) \(Operation not permitted\)\s.*(?:Unseizable non-zombie|detach from) \k<pid>\b/s,
    resource: () => "ptrace",
    sentence: (who, _match, culprit, facts) => `${who} is traced by ${tracerOf(culprit, facts)}.`,
    hint: "Detach the debugger or end strace, then try again.",
  },
  {
    reason: "session_ended",
    pattern: /Unable to interrupt task: (?<pid>\d+) \(No such process\)/,
    applies: (match, _culprit, { rootPid }) => Number(match.groups?.["pid"]) === rootPid,
    resource: () => null,
    sentence: () => "The session's first process has ended.",
    hint: "The session is over; restore one of its checkpoints to go on.",
  },
  {
    reason: "freeze_timeout",
    pattern: /Timeout reached\. Try to interrupt[\s\S]*?Unseizable non-zombie (?<pid>\d+) found/,
    resource: () => "uninterruptible wait",
    sentence: (who) =>
      `${who} could not be stopped in time: it waits in the kernel (a vfork or a slow disk).`,
    hint: "Try again when the process has moved on.",
  },
  ...UNUSUAL_OBJECT_PATTERNS,
  ...DESCRIPTOR_PATTERNS,
  ...SOCKET_PATTERNS,
  {
    reason: "process_race",
    transient: true,
    pattern:
      /Unable to interrupt task: (?<pid>\d+) \(No such process\)|Unseizable non-zombie (?<other>\d+) found/,
    resource: () => null,
    sentence: (who) => `${who} started or ended while the session was being stopped.`,
    hint: "Try again.",
  },
  {
    reason: "connection_in_flight",
    transient: true,
    pattern:
      /In-flight connection|Non-empty write queue on an in-flight socket|Found a closed in-flight socket/,
    resource: () => "connection that is not yet accepted",
    sentence: (who) => `${who} has a connection in its queue that it has not accepted yet.`,
    hint: "Try again once the program has accepted it.",
  },
  {
    reason: "protocol",
    pattern: /Unsupported proto (?<number>\d+) for socket/,
    resource: (match) => protocolOf(match),
    sentence: (who, match) =>
      `${who} has a socket of ${protocolOf(match)}, which cannot be checkpointed.`,
    hint: "For programs written in Go set GODEBUG=multipathtcp=0 in their environment.",
  },
  {
    reason: "corked_socket",
    pattern: /Can't dump corked dgram socket/,
    resource: () => "corked UDP socket",
    sentence: (who) =>
      `${who} has a UDP socket that holds back unsent data (UDP_CORK), which cannot be checkpointed.`,
    hint: "Try again when the program has sent it.",
  },
  {
    reason: "socket",
    pattern:
      /Unsupported socket (?<what>family|type): (?<number>\d+)|Can't dump \d+ inet socket|(?<tun>tun): .+/,
    resource: (match) => socketOf(match),
    sentence: (who, match) => `${who} has a ${socketOf(match)}, which cannot be checkpointed.`,
    hint: SKIP_HINT,
  },
  {
    reason: "file_watch",
    pattern: /fsnotify: .*Can't dump that handle/,
    resource: () => "inotify watch",
    sentence: (who) => `${who} watches a file whose path cannot be found again (inotify).`,
    hint: "End the watcher (a dev server, `tail -f`), or take a checkpoint of the files alone.",
  },
  {
    reason: "mount",
    pattern:
      /(?<path>\S+) is a fuse mount but not external|mnt: (?<other>.*(?:unsupported|unreachable sharing|external mount|overmounted).*)/,
    resource: (match) => mountOf(match),
    sentence: (_who, match) => `The ${mountOf(match)} of the session cannot be checkpointed.`,
    hint: "Unmount it inside the session, then try again.",
  },
  {
    reason: "limits_privilege",
    code: "PRIVILEGE_MISSING",
    pattern: /Can't get rlimit \d+/,
    resource: () => null,
    sentence: (who) => `${who} belongs to another user, and CRIU may not read its limits.`,
    hint: "This machine lacks CAP_SYS_RESOURCE; run `waypoint setup`, which works around it.",
  },
  ...PROCESS_STATE_PATTERNS,
];
