import type { FailurePattern } from "./explain-failure.ts";

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
];
