import type { FailurePattern } from "./explain-failure.ts";
import { refused, refusedNow } from "./refused-rows.ts";

const SHARED: Record<string, string> = {
  FS: "its working directory and root (CLONE_FS)",
  FILES: "its descriptors (CLONE_FILES)",
  VM: "its memory (CLONE_VM)",
  IO: "its priority of input and output (CLONE_IO)",
};

/** What a process is or does that CRIU refuses; rows of the table of failed dumps. */
export const PROCESS_STATE_PATTERNS: readonly FailurePattern[] = [
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
