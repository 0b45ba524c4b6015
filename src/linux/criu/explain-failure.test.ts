import { expect, test } from "vitest";
import {
  explainDumpFailure,
  explainRestoreFailure,
  type FailureFacts,
  type ProcessFacts,
} from "./explain-failure.ts";

// The logs are CRIU 4.2.1's, produced by dumping such processes.
const HARMLESS =
  "Error (criu/util.c:1534): rlimit: Can't setup RLIMIT_NOFILE for self: Operation not permitted";

function facts(process: Partial<ProcessFacts> = {}, others: ProcessFacts[] = []): FailureFacts {
  const blamed = { pid: 7971, innerPid: 12, command: "node", tracerPid: 0 };
  const nothing = { descriptors: new Map(), unusualPaths: [] };
  return {
    rootPid: 7000,
    processes: [{ ...blamed, ...nothing, ...process }, ...others],
    outsideSocketInodes: new Set(),
  };
}

function explain(lines: string[], known: FailureFacts = facts()) {
  return explainDumpFailure(
    [HARMLESS, ...lines, "Error (criu/cr-dump.c:1975): Dumping FAILED."].join("\n"),
    known,
  );
}

const SEND_FDS_REFUSED = [
  "pie: 12: Error (criu/pie/parasite.c:588): send_fds failed (-22)",
  "pie: 12: Close the control socket for writing",
  "Error (criu/parasite-syscall.c:280): Can't retrieve FDs from socket",
  "Error (criu/cr-dump.c:1545): Dump files (pid: 7971) failed with -1",
];

test("an io_uring is found among the descriptors of the process that could not send them", () => {
  const descriptors = new Map([[20, "anon_inode:[io_uring]"]]);

  expect(explain(SEND_FDS_REFUSED, facts({ descriptors }))).toMatchObject({
    code: "CRIU_DUMP_FAILED",
    reason: "io_uring",
    message: "Process 12 (node) holds an io_uring (descriptor 20), which cannot be checkpointed.",
    pid: 12,
    processName: "node",
    resource: "io_uring (descriptor 20)",
    transient: false,
  });
});

test("descriptors refused for another reason are not called an io_uring", () => {
  expect(explain(SEND_FDS_REFUSED).reason).toBe("descriptor");
});

test.each([
  [
    "Can't dump file 3 of that type [20600] (chr 10:229)",
    "Process 12 (node) holds /dev/fuse (descriptor 3), which cannot be checkpointed.",
  ],
  [
    "Can't lookup mount=24 for fd=3 path=/var/log/outside.log",
    "Process 12 (node) has /var/log/outside.log open (descriptor 3), which lies outside of the session.",
  ],
  [
    "Can't lookup mount=15 for fd=3 path=/secretmem (deleted)",
    "Process 12 (node) uses secret memory (memfd_secret), which cannot be checkpointed.",
  ],
  [
    "Can't lookup mount=15 for fd=3 path=/memfd:pool (deleted)",
    "Process 12 (node) has the memfd pool of huge pages (descriptor 3), which cannot be checkpointed.",
  ],
  [
    "pidfd: PIDFD_THREAD flag is currently not supported",
    "Process 12 (node) has a pidfd of a thread (PIDFD_THREAD), which cannot be checkpointed.",
  ],
  [
    "inet: Unsupported proto 262 for socket 3f05",
    "Process 12 (node) has a socket of multipath TCP, which cannot be checkpointed.",
  ],
  [
    "Can't dump ghost file /tmp/ghost of 3145728 size, increase limit",
    "Process 12 (node) has the deleted file /tmp/ghost of 3 MiB open, more than fits into a checkpoint.",
  ],
])("%s", (error, message) => {
  const descriptors = new Map([[3, "/dev/fuse"]]);
  const lines = [
    `Error (criu/files.c:1): ${error}`,
    "Error (criu/cr-dump.c:1545): Dump files (pid: 7971) failed with -1",
  ];

  expect(explain(lines, facts({ descriptors }))).toMatchObject({ message, pid: 12 });
});

test("half of a unix connection is found by the socket whose other end is outside", () => {
  const known = {
    ...facts({ descriptors: new Map([[5, "socket:[77]"]]) }),
    outsideSocketInodes: new Set(["77"]),
  };
  const line =
    "Error (criu/sk-unix.c:881): unix: Can't dump half of stream unix connection. name: (null); peer name: /run/out.sock";

  expect(explain([line], known).message).toBe(
    "Process 12 (node) has a unix connection to /run/out.sock (descriptor 5), whose other end is outside of the session.",
  );
});

test("a terminal from outside is found by its number", () => {
  const known = facts({ descriptors: new Map([[0, "/dev/pts/1"]]) });
  const line =
    "Error (criu/tty.c:410): tty: Found slave peer index 1 without correspond master peer";

  expect(explain([line], known)).toMatchObject({ reason: "outside_terminal", pid: 12 });
});

test.each([
  "sid/pgrp 2 (ctty pid_real 7971 pty pid_real 7000)",
  "sid/pgrp 0, no PTY peer with sid/pgrp needed",
])("the controlling terminal is told from a terminal from outside, and tried again: %s", (what) => {
  const known = facts({ descriptors: new Map([[3, "/dev/tty"]]) });

  expect(
    explain([`Error (criu/tty.c:2286): tty: ctty inheritance detected ${what}`], known),
  ).toMatchObject({
    reason: "controlling_terminal",
    message:
      "Process 12 (node) has /dev/tty open (descriptor 3), whose terminal is not one of the session.",
    transient: true,
    pid: 12,
  });
});

test("a traced process is told from one that has ended", () => {
  const warning = "Warn  (compel/src/lib/infect.c:132): Unable to interrupt task: 7971";
  const end = "Error (compel/src/lib/infect.c:417): Unable to detach from 7971: No such process";

  expect(explain([`${warning} (Operation not permitted)`, end])).toMatchObject({
    reason: "traced",
    message: "Process 12 (node) is traced by a debugger or strace outside of the session.",
    transient: false,
  });
  // One that was ending, and what the dump failed on.
  const pipe = "Error (criu/pipes.c:490): The packetized mode for pipes is not supported yet";
  expect(explain([`${warning} (Operation not permitted)`, pipe])).toMatchObject({
    reason: "packet_pipe",
  });
  const zombie = "Error (criu/seize.c:882): Zombies with threads are not supported";
  expect(explain([`${warning} (Operation not permitted)`, zombie])).toMatchObject({
    reason: "main_thread",
    message:
      "Process 12 (node) has ended its main thread while others run on, which cannot be checkpointed.",
    transient: true,
  });
  expect(explain([`${warning} (No such process)`, end])).toMatchObject({
    reason: "process_race",
    transient: true,
  });
  expect(explain([`${warning} (No such process)`, end], facts({ pid: 7000 }))).toMatchObject({
    reason: "process_race",
  });
  expect(explain([`${warning.replace("7971", "7000")} (No such process)`]).reason).toBe(
    "session_ended",
  );
});

test("a task that waits in the kernel is not tried again after the freeze timed out", () => {
  const lines = [
    "Error (criu/cr-dump.c:1655): Timeout reached. Try to interrupt: 0",
    "Error (compel/src/lib/infect.c:262): Unseizable non-zombie 7971 found, state D, err -1/4",
  ];

  expect(explain(lines)).toMatchObject({ reason: "freeze_timeout", pid: 12, transient: false });
});

test("a connection that is not accepted yet is worth another try", () => {
  const lines = [
    "Error (criu/sk-inet.c:185): inet: In-flight connection (l) for 6b0d",
    "Error (criu/cr-dump.c:1545): Dump files (pid: 7971) failed with -1",
  ];

  expect(explain(lines)).toMatchObject({
    reason: "connection_in_flight",
    transient: true,
    pid: 12,
  });
});

test("no space is told apart: for images, and for the snapshot", () => {
  const image =
    "Error (criu/page-xfer.c:263): page-xfer: Unable to spice data: No space left on device";
  const hook = [
    "make the snapshot: No space left on device",
    "Error (criu/action-scripts.c:94): Script /usr/lib/waypoint/snapshot-hook exited with -1",
  ];

  expect(explain([image])).toMatchObject({ code: "STORE_FULL", reason: "images_full" });
  expect(explain(hook)).toMatchObject({ code: "STORE_FULL", reason: "store_full" });
  expect(explain(["make the snapshot: File exists", hook[1] ?? ""]).code).toBe("STORE_FAILED");
});

test.each([
  ["Error (criu/cr-dump.c:1545): Dump files (pid: 7971) failed with -1"],
  ["Error (criu/x.c:1): SEIZE 7971: something new"],
  ["pie: 12: Error (criu/pie/parasite.c:1): something new"],
])("an unknown failure names the process, and quotes nothing of CRIU's: %s", (line) => {
  const lines = ["Error (criu/new.c:1): Something new in 7971", line].slice(
    line.includes("SEIZE") ? 1 : 0,
  );

  expect(explain(lines)).toMatchObject({ pid: 12, processName: "node" });
  expect(explain(lines).message).toMatch(/^Process 12 \(node\) [\w ,]+\.$/);
});

test("an unknown failure of a restore names the process by its number in the session", () => {
  const log = "    12: Error (criu/new.c:1): Something new";

  expect(explainRestoreFailure(log, facts({ pid: 0 })).message).toBe(
    "Process 12 (node) could not be brought back by CRIU.",
  );
  expect(explainRestoreFailure("Error (criu/new.c:1): new").message).toBe(
    "A process of the session could not be brought back by CRIU.",
  );
});

const AT_FILES = "Error (criu/cr-dump.c:1545): Dump files (pid: 7971) failed with -1";

test.each([
  [
    "Error (compel/src/lib/infect.c:359): SEIZE 7971: unsupported stop signal 22",
    "Process 12 (node) is stopped by signal 22, which cannot be checkpointed.",
  ],
  [
    "Error (criu/sk-queue.c:144): skqueue: Control messages in queue, not supported",
    "Process 12 (node) has a unix socket with a message that it has not read yet and that says who sent it (SO_PASSCRED).",
  ],
  [
    "Error (criu/tty.c:1865): tty: No CTL for TTY dump, likely SCM case",
    "Process 12 (node) has a unix socket with a message that it has not read yet and in which a terminal is passed on (SCM_RIGHTS).",
  ],
  [
    "Error (criu/cr-dump.c:676): Can't make FS id for 7971",
    "Process 12 (node) shares its working directory and root (CLONE_FS) with another process, which cannot be checkpointed.",
  ],
  [
    "Error (criu/cr-dump.c:1550): Dump eventpoll (pid: 7971) failed with -1",
    "Process 12 (node) has an epoll that watches a file which it has closed and another process has open, which cannot be checkpointed.",
  ],
  [
    "Error (compel/src/lib/infect.c:848): Can't create memfd in victim: Too many open files",
    "Process 12 (node) may not open another file (RLIMIT_NOFILE), which cannot be checkpointed.",
  ],
  [
    "Error (criu/files-reg.c:1159): Can't link remap to /usr/share/doc/bash: Operation not permitted",
    "Process 12 (node) has /usr/share/doc/bash open or stands in it, which was removed and is of the base, which cannot be checkpointed.",
  ],
])("%s has words", (line, message) => {
  expect(explain([line, AT_FILES]).message).toBe(message);
});

test("what is open as a path only is found among the descriptors", () => {
  const known = facts({ descriptors: new Map([[4, "/dev/tty"]]), unusualPaths: [4] });
  const lines = [
    "pie: 12: Error (criu/pie/parasite.c:775): tty: Can't fetch params: err = -9",
    AT_FILES,
  ];

  expect(explain(lines, known)).toMatchObject({
    reason: "path_only",
    message:
      "Process 12 (node) has /dev/tty open as a path only (O_PATH) (descriptor 4), which cannot be checkpointed.",
  });
  expect(explain(lines).reason).toBe("unknown");
});

test("failures of a restore have their words", () => {
  const missing =
    "     1: Error (criu/files-reg.c:2353): Can't open file tmp/kept on restore: No such file or directory";
  const changed = "     1: Error (criu/files-reg.c:2175): File tmp/kept has bad size 19 (expect 1)";
  const cut =
    "Error (criu/protobuf.c:93): Read 8 bytes while 2665 expected from /images/core-1.img: No such file or directory";

  expect(explainRestoreFailure(missing)).toMatchObject({ reason: "file_missing" });
  expect(explainRestoreFailure(changed).message).toBe(
    "The file tmp/kept is not the one of the checkpoint (another size).",
  );
  expect(explainRestoreFailure(cut).code).toBe("CHECKPOINT_INCOMPLETE");
});
