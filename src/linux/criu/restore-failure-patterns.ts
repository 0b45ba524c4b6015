import { mountOf } from "./describe-culprit.ts";
import type { FailurePattern } from "./explain-failure.ts";
import { PROCESSES_FULL_PATTERN } from "./refused-rows.ts";

/** Failures of a restore, the most telling first. */
export const RESTORE_FAILURE_PATTERNS: readonly FailurePattern[] = [
  PROCESSES_FULL_PATTERN,
  {
    reason: "watch_limit",
    pattern: /fsnotify: .*No space left on device/,
    resource: () => "inotify watch",
    sentence: () => "The limit of inotify watches of this machine is reached.",
    hint: "Raise fs.inotify.max_user_watches.",
  },
  {
    reason: "store_full",
    code: "STORE_FULL",
    pattern: /No space left on device|Disk quota exceeded/,
    resource: () => null,
    sentence: () => "There is no space left in the store for the restored session.",
    hint: "Forget checkpoints that are not needed, or enlarge the store.",
  },
  {
    reason: "memory_full",
    pattern: /Cannot allocate memory/,
    resource: () => "memory",
    sentence: () => "This machine has too little free memory for the restored processes.",
    hint: "End sessions or standbys that are not needed, then try again.",
  },
  {
    reason: "mount_root_gone",
    transient: true,
    pattern: /Can't remount root with MS_PRIVATE|Unable to mount tmpfs in \S*\.criu\.mntns/,
    resource: () => "mount",
    sentence: () =>
      "The directory in which CRIU builds the session's mounts was removed meanwhile.",
    hint: "Try again.",
  },
  {
    reason: "message_lost",
    transient: true,
    pattern: /messages that bring descriptors were lost/,
    resource: () => "unix socket",
    sentence: () =>
      "CRIU left out a message that had not been read yet and that brings an open file.",
    hint: "Try again.",
  },
  {
    reason: "images_incomplete",
    code: "CHECKPOINT_INCOMPLETE",
    pattern:
      /Read \d+ bytes while \d+ expected from (?<short>\S+)|(?:Can't|Unable to) open (?<path>\S*\.img)|Magic doesn't match|Unable to unpack object|Could not read inventory|No root in pstree/i,
    resource: (match) => match.groups?.["path"] ?? match.groups?.["short"] ?? null,
    sentence: () => "The process images of the checkpoint are incomplete or damaged.",
    hint: "Restore another checkpoint, or this one's files alone.",
  },
  {
    reason: "file_changed",
    pattern: /File (?<path>\S+) has bad (?<what>size|mode|build-ID)/,
    resource: (match) => `file ${match.groups?.["path"]}`,
    sentence: (_who, match) =>
      `The file ${match.groups?.["path"]} is not the one of the checkpoint (another ${match.groups?.["what"]}).`,
    hint: "The base of the session or a directory bound into it has changed since, for example by an update of the host.",
  },
  {
    reason: "file_locked",
    pattern: /Can not set (?:posix lock|ofd lock|flock)|Can't set lease/,
    resource: () => "file lock",
    sentence: () =>
      "A file that the checkpoint's processes have locked is locked by another process.",
    hint: "It lies in a bound directory. Let the session, or the program of the host, that holds the lock go on or end.",
  },
  {
    reason: "file_missing",
    pattern:
      /Can't open file (?<path>.+) on restore: (?<why>.+)|Can't open (?<other>\S+): No such file or directory/,
    resource: (match) => `file ${match.groups?.["path"] ?? match.groups?.["other"]}`,
    sentence: (_who, match) =>
      `The file ${match.groups?.["path"] ?? match.groups?.["other"]}, which a process has open, is not there any more.`,
    hint: "The base of the session or a directory bound into it has changed since.",
  },
  {
    reason: "removed_directory",
    pattern:
      /Couldn't unlink remap \S*?mnt-\d+(?<path>\/\S*): Directory not empty|(?:couldn't mkdirpat directory|Can't create ghost) .*Not a directory/,
    resource: (match) => `removed ${match.groups?.["path"] ?? "file"}`,
    sentence: (_who, match) =>
      `A process had ${match.groups?.["path"] ?? "a file"} open, which was removed, and something else is at its path now.`,
    hint: "Restore another checkpoint, or this one's files alone.",
  },
  {
    reason: "in_flight",
    pattern: /Empty list on file desc id|Can't find sender for|Failed to read inotify events/,
    resource: () => "descriptor in flight",
    sentence: () =>
      "A descriptor was on its way between processes (SCM_RIGHTS), and nobody had it open.",
    hint: "Restore another checkpoint, or this one's files alone.",
  },
  {
    reason: "address",
    pattern:
      /Can't bind (?:inet|raw|unix)? ?socket.*: (?<why>.+)|Can't bind inet socket back: (?<back>.+)/,
    resource: () => "network address",
    sentence: (_who, match) =>
      `A network address of the checkpoint cannot be taken: ${match.groups?.["why"] ?? match.groups?.["back"]}.`,
    hint: "Each restored session needs a network namespace with the inner address and lo up.",
  },
  {
    reason: "pid_in_use",
    pattern: /Can't fork for (?<pid>\d+): File exists|Pid (?<other>\d+) (?:is )?in use/i,
    resource: () => "process id",
    sentence: (_who, match) =>
      `The process id ${match.groups?.["pid"] ?? match.groups?.["other"]} of the checkpoint is in use.`,
    hint: "Restore it in a pid namespace of its own.",
  },
  {
    reason: "tcp_repair",
    pattern: /Can't turn TCP repair mode ON/,
    resource: () => "TCP connection",
    sentence: () => "CRIU may not rebuild TCP connections in this network namespace.",
    hint: "CAP_NET_ADMIN over the session's network namespace is missing.",
  },
  {
    reason: "terminal",
    pattern: /Unable to open (?<path>\S*ptmx) with specified index/,
    resource: () => "terminal",
    sentence: () => "A terminal of the checkpoint cannot get its number back.",
    hint: "Each restored session needs a devpts of its own.",
  },
  {
    reason: "cpu",
    pattern: /cpu: (?<what>.*(?:mismatch|unsupported|absent|not match|required).*)/i,
    resource: () => "CPU",
    sentence: (_who, match) =>
      `The checkpoint was made on a CPU with other features: ${match.groups?.["what"]}.`,
    hint: "Restore it on a machine with the same kind of CPU.",
  },
  {
    reason: "root_mount",
    pattern: /New root (?<path>\S+) .*|mnt: .*(?:root|mount).*fail.*|The mount .+ is not found/i,
    resource: (match) => mountOf(match),
    sentence: (_who, match) => `The ${mountOf(match)} of the session cannot be rebuilt.`,
    hint: "The root directory must be a mount point of its own.",
  },
];
