import type { FailurePattern } from "./explain-failure.ts";
import { refused, refusedNow } from "./refused-rows.ts";

/** Objects that few programs have; rows of the table of failed dumps. */
export const UNUSUAL_OBJECT_PATTERNS: readonly FailurePattern[] = [
  {
    reason: "packet_pipe",
    pattern: /The packetized mode for pipes is not supported/,
    resource: () => "pipe in packet mode",
    sentence: (who) => `${who} has a pipe in packet mode (O_DIRECT), which cannot be checkpointed.`,
    hint: "Use a socket pair of the type SOCK_SEQPACKET instead, or end that program.",
  },
  {
    reason: "many_pipes",
    pattern: /OOM storing pipe/,
    resource: () => "pipes",
    sentence: (who) =>
      `${who} has a pipe that is one too many: more than 1024 of a session do not fit into a checkpoint.`,
    hint: "Close pipes that are not needed, or end a program that has many.",
  },
  {
    reason: "netlink_unread",
    // Programs read such messages as soon as they run, so this mostly passes by itself.
    transient: true,
    pattern: /netlink: The socket has data to read/,
    resource: () => "netlink socket",
    sentence: (who) => `${who} has a netlink socket with messages that it has not read yet.`,
    hint: "Try again once the program has read them.",
  },
  {
    reason: "main_thread",
    // A process of many threads that is just ending looks like this for an instant.
    transient: true,
    pattern:
      /[\s\S]*Unable to interrupt task: (?<pid>\d+) \(Operation not permitted\)[\s\S]*?Zombies with threads are not supported/,
    resource: () => "main thread",
    sentence: (who) =>
      `${who} has ended its main thread while others run on, which cannot be checkpointed.`,
    hint: "Try again; if that process does not end, its main thread must wait for the others.",
  },
  {
    reason: "task_mode",
    pattern: /Can't dump task (?<pid>\d+) (?<what>running in 32-bit mode|with LDT descriptors)/,
    resource: (match) => match.groups?.["what"] ?? null,
    sentence: (who, match) => `${who} is ${match.groups?.["what"]}, which cannot be checkpointed.`,
    hint: "End that program, then try again; a checkpoint of the files alone is possible at any time.",
  },
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
];
