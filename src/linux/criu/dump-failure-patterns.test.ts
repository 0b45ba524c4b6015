import { expect, test } from "vitest";
import { explainDumpFailure } from "./explain-failure.ts";

const PROCESS = { pid: 7971, innerPid: 12, command: "node", tracerPid: 0 };
const AT_FILES = "Error (criu/cr-dump.c:1545): Dump files (pid: 7971) failed with -1";

function explain(lines: string[]) {
  return explainDumpFailure([...lines, "Error (criu/cr-dump.c:1975): Dumping FAILED."].join("\n"), {
    rootPid: 7000,
    processes: [{ ...PROCESS, descriptors: new Map(), unusualPaths: [] }],
    outsideSocketInodes: new Set(),
  });
}

// Written from the words in CRIU's source; only the unreachable peer was seen in a dump.
test.each([
  [
    "Error (criu/namespaces.c:1117): Can't dump a pid namespace without the process init",
    "Process 12 (node) has a pid namespace of its own whose first process has ended, which cannot be checkpointed.",
  ],
  [
    "Error (criu/file-lock.c:102): Unresolved lock found pid 7971 ino 1234",
    "Process 12 (node) holds a lock of a file that it has not open any more, or shares it with one outside, which cannot be checkpointed.",
  ],
  [
    "Error (criu/file-lock.c:306): Lease doesn't conflicts but breaks",
    "Process 12 (node) has a lease of a file (F_SETLEASE) that is just being broken.",
  ],
  [
    "Error (criu/cr-dump.c:1663): Failed to check aio rings (pid: 7971)",
    "Process 12 (node) has requests of asynchronous input or output (io_submit) under way, or a ring of an unknown form, which cannot be checkpointed.",
  ],
  [
    "Error (criu/sk-unix.c:428): unix: Unix socket 77 with unreachable peer 78 (79)",
    "Process 12 (node) has a unix socket whose other end is connected elsewhere and has no name, which cannot be checkpointed.",
  ],
  [
    "Error (criu/sk-unix.c:735): unix: Bound socket w/o inode 77",
    "Process 12 (node) has a unix socket bound to a path that cannot be found again, which cannot be checkpointed.",
  ],
  [
    "Error (criu/sk-inet.c:566): inet: couldn't find ifname for 9, can't bind",
    "Process 12 (node) has a socket at a link-local address of IPv6 that is bound to no device (SO_BINDTODEVICE), which cannot be checkpointed.",
  ],
  [
    "Error (criu/cr-dump.c:931): unsupported RSEQ ABI version = 7",
    "Process 12 (node) uses restartable sequences of version 7, which CRIU does not know, which cannot be checkpointed.",
  ],
  [
    "Error (criu/mount.c:3876): mnt: The root task has another root than mntns: /srv/jail",
    "Process 12 (node) has another root directory than its session (/srv/jail), which cannot be checkpointed.",
  ],
])("%s has words without a pid of the host", (line, message) => {
  const explained = explain([line, AT_FILES]);

  expect(explained.message).toBe(message);
  expect(`${explained.message}${explained.hint}${explained.resource}`).not.toContain("7971");
});

test("shared memory of System V that lacks a part has words, though the log names no process", () => {
  const lines = [
    "Error (criu/shmem.c:924): Can't open 0/map_files/7f283c75a000-7f283c75c000 on procfs: No such file or directory",
    "Error (criu/ipc_ns.c:533): Failed to write IPC namespace data",
    "Error (criu/namespaces.c:1163): Namespaces dumping finished with error 65280",
  ];

  expect(explain(lines)).toMatchObject({
    reason: "sysv_memory",
    message:
      "A process of the session has shared memory of System V attached with a part of it unmapped, which cannot be checkpointed.",
  });
});
