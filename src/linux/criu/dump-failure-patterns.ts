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
import type { Culprit, FailureFacts, FailurePattern } from "./explain-failure.ts";
import { END_HINT, PROCESSES_FULL_PATTERN, refused, refusedNow } from "./refused-rows.ts";

const CONTROLLING_TERMINAL = "/dev/tty";
const IO_URING = "anon_inode:[io_uring]";

const SHARED: Record<string, string> = {
  FS: "its working directory and root (CLONE_FS)",
  FILES: "its descriptors (CLONE_FILES)",
  VM: "its memory (CLONE_VM)",
  IO: "its priority of input and output (CLONE_IO)",
};

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
  refused({
    reason: "io_uring",
    // Descriptors come to CRIU over a unix socket, and the kernel refuses to pass on an io_uring.
    pattern: /pie: \d+: Error .*send_fds failed \(-22\)/,
    findCulprit: (match, facts) => {
      const process = processAtFiles(match, facts);
      const held = process && [...process.descriptors].find(([, target]) => target === IO_URING);
      return process && held && { process, descriptor: held[0] };
    },
    applies: (_match, culprit) => culprit?.descriptor !== undefined,
    resource: "io_uring$descriptor",
    what: "holds an io_uring$descriptor",
    hint: "Inside a session io_uring is refused, so this process was started otherwise; restart it.",
  }),
  {
    reason: "descriptor",
    pattern: /pie: \d+: Error .*send_fds failed/,
    resource: () => "descriptor that cannot be passed on",
    sentence: (who) => `${who} holds a descriptor that the kernel does not pass on to CRIU.`,
    hint: END_HINT,
  },
  {
    reason: "descriptor",
    pattern: /Can't dump file (?<fd>\d+) of that type \[\d+\] \((?<what>[^)]+)\)/,
    resource: (match, culprit) => `${targetOf(match, culprit)}${descriptorOf(culprit)}`,
    sentence: (who, match, culprit) =>
      `${who} holds ${targetOf(match, culprit)}${descriptorOf(culprit)}, which cannot be checkpointed.`,
    hint: END_HINT,
  },
  refused({
    reason: "memfd_secret",
    pattern: /Can't lookup mount=\d+ for fd=(?<fd>-?\d+) path=\/secretmem/,
    resource: "memfd_secret$descriptor",
    what: "uses secret memory (memfd_secret)",
  }),
  refused({
    reason: "huge_memfd",
    // Ordinary ones are found; those of huge pages lie in a mount that no namespace shows.
    pattern:
      /Can't lookup mount=\d+ for fd=(?<fd>-?\d+) path=\/memfd:(?<name>.*?)(?: \(deleted\))?$/m,
    resource: "memfd $name$descriptor",
    what: "has the memfd $name of huge pages$descriptor",
  }),
  refused({
    reason: "thread_pidfd",
    pattern: /pidfd: PIDFD_THREAD flag is currently not supported/,
    resource: "pidfd of a thread",
    what: "has a pidfd of a thread (PIDFD_THREAD)",
  }),
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
  refused({
    reason: "nested_namespace",
    pattern: /Can't dump nested (?<kind>\w+) namespace for (?<pid>\d+)/,
    resource: "$kind namespace",
    what: "runs in a $kind namespace of its own",
    hint: "Containers and sandboxes (docker, bwrap, unshare) cannot be part of a session; end them first.",
  }),
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

  // Objects that few programs have.
  refused({
    reason: "packet_pipe",
    pattern: /The packetized mode for pipes is not supported/,
    resource: "pipe in packet mode",
    what: "has a pipe in packet mode (O_DIRECT)",
    hint: "Use a socket pair of the type SOCK_SEQPACKET instead, or end that program.",
  }),
  {
    reason: "many_pipes",
    pattern: /OOM storing pipe/,
    resource: () => "pipes",
    sentence: (who) =>
      `${who} has a pipe that is one too many: more than 1024 of a session do not fit into a checkpoint.`,
    hint: "Close pipes that are not needed, or end a program that has many.",
  },
  refusedNow({
    reason: "netlink_unread",
    // Programs read such messages as soon as they run, so this mostly passes by itself.
    pattern: /netlink: The socket has data to read/,
    resource: "netlink socket",
    what: "has a netlink socket with messages that it has not read yet",
    hint: "Try again once the program has read them.",
  }),
  refusedNow({
    reason: "main_thread",
    // A process of many threads that is just ending looks like this for an instant.
    pattern:
      /[\s\S]*Unable to interrupt task: (?<pid>\d+) \(Operation not permitted\)[\s\S]*?Zombies with threads are not supported/,
    resource: "main thread",
    what: "has ended its main thread while others run on, which cannot be checkpointed",
    hint: "Try again; if that process does not end, its main thread must wait for the others.",
  }),
  refused({
    reason: "task_mode",
    pattern: /Can't dump task (?<pid>\d+) (?<what>running in 32-bit mode|with LDT descriptors)/,
    resource: "$what",
    what: "is $what",
    hint: "End that program, then try again; a checkpoint of the files alone is possible at any time.",
  }),
  refused({
    reason: "sysv_memory",
    // CRIU attaches each segment and looks for it as a whole; the log names no process.
    pattern:
      /Can't open \S+\/map_files\/\S+ on procfs: No such file or directory\n[^\n]*Failed to write IPC namespace data/,
    resource: "System V shared memory",
    what: "has shared memory of System V attached with a part of it unmapped",
  }),
  refused({
    reason: "nested_namespace",
    pattern: /Can't dump a pid namespace without the process init/,
    resource: "pid namespace",
    what: "has a pid namespace of its own whose first process has ended",
  }),
  refused({
    reason: "lock_outside",
    pattern: /Unresolved lock found pid \d+ ino \d+/,
    resource: "file lock",
    what: "holds a lock of a file that it has not open any more, or shares it with one outside",
    hint: "Let the program give the lock back, then try again.",
  }),
  refusedNow({
    reason: "lease_breaking",
    pattern:
      /Lease doesn't conflicts but breaks|Incorrect (?:target )?lease type|Invalid file lease type|Conflicting lease wasn't found/,
    resource: "file lease",
    what: "has a lease of a file (F_SETLEASE) that is just being broken",
    hint: "Try again once the program has given the lease back.",
  }),
  refused({
    reason: "async_io",
    pattern: /Ring size is not aligned|Failed to check aio rings \(pid: (?<pid>\d+)\)/,
    resource: "asynchronous input and output",
    what: "has requests of asynchronous input or output (io_submit) under way, or a ring of an unknown form",
  }),

  // Open files that CRIU refuses.
  {
    reason: "path_only",
    // CRIU asks for what such a descriptor does not tell; of other kinds of files it knows better.
    pattern:
      /tty: Can't fetch params: err = -9|Can't obtain piped data size|Can't get \d+:\d+ opt: Bad file descriptor/,
    findCulprit: pathOnlyOf,
    applies: (_match, culprit) => culprit?.descriptor !== undefined,
    resource: (match, culprit) => `${targetOf(match, culprit)}${descriptorOf(culprit)}`,
    sentence: (who, match, culprit) =>
      `${who} has ${targetOf(match, culprit)} open as a path only (O_PATH)${descriptorOf(culprit)}, which cannot be checkpointed.`,
    hint: "Let the program close it, or end it.",
  },
  {
    reason: "controlling_terminal",
    transient: true,
    pattern: /ctty inheritance detected/,
    findCulprit: (_match, facts) => holderOf(facts, CONTROLLING_TERMINAL),
    resource: () => CONTROLLING_TERMINAL,
    sentence: (who, _match, culprit) =>
      `${who} has /dev/tty open${descriptorOf(culprit)}, whose terminal is not one of the session.`,
    hint: "Programs of a session must run in its own terminals; end this one and start it there.",
  },
  refused({
    reason: "escaped_watch",
    pattern: /Dump eventpoll \(pid: (?<pid>\d+)\) failed/,
    resource: "epoll",
    what: "has an epoll that watches a file which it has closed and another process has open",
  }),
  refused({
    reason: "long_path",
    pattern: /Can't read link for pid (?<pid>\d+) fd (?<fd>-?\d+)/,
    applies: (match) => match.input.includes("File name too long"),
    resource: "file with a long path$descriptor",
    what: "has a file open$descriptor whose path is longer than 4095 bytes",
    hint: "Let the program close it, or move the file higher up.",
  }),
  refused({
    reason: "removed_file",
    pattern:
      /Can't link remap to (?<path>.+): (?:Operation not permitted|Invalid cross-device link)/,
    resource: "removed $path",
    what: "has $path open or stands in it, which was removed and is of the base",
    hint: "Let the program leave or close it (`cd /`), then try again.",
  }),
  refused({
    reason: "covered_file",
    pattern:
      /Open files on overmounted mounts[^\n]*path=(?<path>\S+)|Unaccessible path opened|The path \[(?<name>[^\]]*)\] is not supported/,
    resource: "file $path$name",
    what: "has a file open that no path leads to any more ($path$name)",
  }),
  refused({
    reason: "many_terminals",
    pattern: /Index (?<index>\d+) on (?:ptmx|pts) is too big/,
    resource: "terminal /dev/pts/$index",
    what: "has the terminal /dev/pts/$index open, of which numbers above 1000 do not fit",
    hint: "Close terminals that are not needed.",
  }),
  refused({
    reason: "unknown_terminal",
    pattern: /Unable to find a tty driver/,
    resource: "terminal",
    what: "has a terminal open that is no terminal of the session",
  }),

  // Sockets, and what is on its way in them, that CRIU refuses.
  refusedNow({
    reason: "credentials_in_flight",
    pattern: /skqueue: (?:Control messages in queue|Unexpected 2nd SCM_RIGHTS)/,
    resource: "unread message with credentials",
    what: "has a unix socket with a message that it has not read yet and that says who sent it (SO_PASSCRED)",
    hint: "Try again once the program has read the message.",
  }),
  refusedNow({
    reason: "terminal_in_flight",
    pattern: /tty: No CTL for TTY dump/,
    resource: "terminal in flight",
    what: "has a unix socket with a message that it has not read yet and in which a terminal is passed on (SCM_RIGHTS)",
    hint: "Try again once the program has read the message.",
  }),
  refusedNow({
    reason: "large_datagram",
    pattern: /skqueue: sys_recvmsg failed: truncated/,
    resource: "unread message",
    what: "has a unix socket with a message that it has not read yet and that is too large",
    hint: "Try again once the program has read the message.",
  }),
  refused({
    reason: "netlink_groups",
    pattern: /netlink socket \S+ (?:has more than 32 groups|is bound to groups but not to portid)/,
    resource: "netlink socket",
    what: "has a netlink socket that listens to groups in a way CRIU does not know",
  }),
  refused({
    reason: "packet_membership",
    pattern: /Multiple MC membership not supported|Unknown mc membership type/,
    resource: "packet socket",
    what: "has a packet socket with several memberships",
  }),
  refused({
    reason: "packet_mapping",
    pattern: /(?:No open packet socket|Can't find packet socket|Mmap-ed socket)/,
    resource: "packet socket",
    what: "has mapped the memory of a packet socket that it has closed",
  }),
  refused({
    reason: "socket_outside",
    pattern: /Sockets \(family (?<family>\d+) proto (?<number>\d+)\) are not collected/,
    resource: "socket of family $family",
    what: "has a socket of another network or of an unknown kind (family $family, protocol $number)",
  }),
  refused({
    reason: "unix_peer",
    pattern: /Unix socket \d+ (?:without peer|with unreachable peer) \d+/,
    resource: "unix socket",
    what: "has a unix socket whose other end is connected elsewhere and has no name",
  }),
  refused({
    reason: "unix_bound",
    pattern:
      /Bound socket w\/o inode|Unable to resolve unix socket name|Unable too cut \S+ from|Can't resolve name for socket|The path \S+ is too long/,
    resource: "bound unix socket",
    what: "has a unix socket bound to a path that cannot be found again",
  }),
  refused({
    reason: "socket_device",
    pattern: /couldn't find ifname for \d+, can't bind/,
    resource: "link-local IPv6 socket",
    what: "has a socket at a link-local address of IPv6 that is bound to no device (SO_BINDTODEVICE)",
  }),
  refused({
    reason: "unix_socket",
    pattern:
      /Unsupported type \(\d+\) on socket|Unknown state \d+ for unix socket|name-less external socket|External socket is used/,
    resource: "unix socket",
    what: "has a unix socket with an end outside of the session, or of a kind CRIU does not know",
  }),
  refusedNow({
    reason: "tcp_state",
    pattern:
      /Failed to lock TCP connection|libsoccr_save\(\) failed|Unknown inet socket \S+ state|Connected TCP socket, consider/,
    resource: "TCP connection",
    what: "has a TCP connection that changed while it was looked at",
  }),

  {
    reason: "process_race",
    transient: true,
    pattern:
      /Unable to interrupt task: (?<pid>\d+) \(No such process\)|Unseizable non-zombie (?<other>\d+) found/,
    resource: () => null,
    sentence: (who) => `${who} started or ended while the session was being stopped.`,
    hint: "Try again.",
  },
  refusedNow({
    reason: "connection_in_flight",
    pattern:
      /In-flight connection|Non-empty write queue on an in-flight socket|Found a closed in-flight socket/,
    resource: "connection that is not yet accepted",
    what: "has a connection in its queue that it has not accepted yet",
    hint: "Try again once the program has accepted it.",
  }),
  {
    reason: "protocol",
    pattern: /Unsupported proto (?<number>\d+) for socket/,
    resource: (match) => protocolOf(match),
    sentence: (who, match) =>
      `${who} has a socket of ${protocolOf(match)}, which cannot be checkpointed.`,
    hint: "For programs written in Go set GODEBUG=multipathtcp=0 in their environment.",
  },
  refused({
    reason: "corked_socket",
    pattern: /Can't dump corked dgram socket/,
    resource: "corked UDP socket",
    what: "has a UDP socket that holds back unsent data (UDP_CORK)",
    hint: "Try again when the program has sent it.",
  }),
  {
    reason: "socket",
    pattern:
      /Unsupported socket (?<what>family|type): (?<number>\d+)|Can't dump \d+ inet socket|(?<tun>tun): .+/,
    resource: (match) => socketOf(match),
    sentence: (who, match) => `${who} has a ${socketOf(match)}, which cannot be checkpointed.`,
    hint: END_HINT,
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

  // What a process is or does that CRIU refuses.
  {
    reason: "shared_context",
    pattern: /Can't make (?<what>FS|FILES|VM|IO) id for (?<pid>\d+)/,
    resource: (match) => SHARED[match.groups?.["what"] ?? ""] ?? null,
    sentence: (who, match) =>
      `${who} shares ${SHARED[match.groups?.["what"] ?? ""]} with another process, which cannot be checkpointed.`,
    hint: "End that program, then try again; a checkpoint of the files alone is possible at any time.",
  },
  refused({
    reason: "descriptor_limit",
    pattern: /Can't create memfd in victim: Too many open files/,
    resource: "RLIMIT_NOFILE",
    what: "may not open another file (RLIMIT_NOFILE)",
    hint: "Raise its limit (`prlimit --pid PID --nofile=…`) or let it close files; CRIU has to open one in each process.",
  }),
  refused({
    reason: "stop_signal",
    pattern: /SEIZE (?<pid>\d+): unsupported stop signal (?<signal>\d+)/,
    resource: "stop by signal $signal",
    what: "is stopped by signal $signal",
    hint: "Continue it (`kill -CONT`), or end it.",
  }),
  refused({
    reason: "signal_on_its_way",
    pattern: /Unexpected (?<pid>\d+) task interruption/,
    resource: "signal",
    what: "is stopped while a signal waits for it",
    hint: "Continue it (`kill -CONT`), or end it.",
  }),
  refused({
    reason: "signal_on_its_way",
    pattern: /Can't dump the (?<pid>\d+) thread with a pending SIGTRAP/,
    resource: "signal",
    what: "has a signal of a debugger waiting (SIGTRAP)",
  }),
  refusedNow({
    reason: "process_race",
    pattern:
      /SEIZE (?<pid>\d+): |Task pid reused while suspending \((?<other>\d+)|Individually stopped threads|Zombie thread not supported/,
    resource: "process",
    what: "started, stopped or ended while the session was being stopped",
  }),
  refused({
    reason: "session_leader",
    pattern: /A session leader of (?:zombie process )?(?<pid>\d+)\(\d+\) is outside/,
    resource: "session",
    what: "belongs to a session of processes whose leader is outside",
    hint: "Start that program inside the session.",
  }),
  refused({
    reason: "rseq",
    pattern: /(?<pid>\d+) has rseq but kernel lacks/,
    resource: "restartable sequence",
    what: "uses restartable sequences, of which this kernel tells nothing",
    hint: "A newer kernel is needed; `waypoint doctor` says which.",
  }),
  refused({
    reason: "rseq",
    pattern: /unsupported RSEQ ABI version = (?<version>\d+)/,
    resource: "restartable sequence",
    what: "uses restartable sequences of version $version, which CRIU does not know",
  }),
  refused({
    reason: "other_root",
    pattern: /The root task has another root than mntns: (?<path>[^\n]+)/,
    resource: "root directory $path",
    what: "has another root directory than its session ($path)",
    hint: "Do not change the root of the session's first process (chroot); do it in a program of its own.",
  }),
  refused({
    reason: "mapping",
    pattern:
      /Unknown shit \d+ \((?<name>[^)]*)\)|Strange file mapped at \S+ \[(?<file>[^\]]*)\]|(?:Unsupported mapping|Bogus mapping|Can't handle non-regular mapping)/,
    resource: "mapping $name$file",
    what: "has mapped something that is no file of the session ($name$file)",
  }),
  refused({
    reason: "uprobes",
    pattern: /PID (?<pid>\d+) has uprobes vma/,
    resource: "uprobe",
    what: "is watched by a tracer of the kernel (uprobes)",
    hint: "End the tracer (bpftrace, perf), then try again.",
  }),
];

/** The process whose files CRIU was at. */
function processAtFiles({ input }: RegExpExecArray, { processes }: FailureFacts) {
  const blamed = /Dump files \(pid: (\d+)\)/.exec(input)?.[1];
  return processes.find(({ pid }) => pid === Number(blamed));
}

/** What it has open as a path only. */
function pathOnlyOf(match: RegExpExecArray, facts: FailureFacts): Culprit | undefined {
  const process = processAtFiles(match, facts);
  const descriptor = process?.unusualPaths[0];
  return process && { process, ...(descriptor === undefined ? {} : { descriptor }) };
}
