import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { afterEach, beforeAll, expect, test } from "vitest";
import { COUNTER, CriuTrees, PYTHON, sh, stateOf } from "./criu-trees.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

const title = "a dump that fails names the process and what it holds";
inPrivateNamespace(import.meta.filename, { title, network: false }, () => {
  let trees: CriuTrees;
  beforeAll(async () => {
    trees = await CriuTrees.open();
  });
  afterEach(() => trees.endAll());

  test.each([
    {
      what: "an io_uring",
      program: `import ctypes; u = ctypes.CDLL(None).syscall(425, 8, ctypes.create_string_buffer(120))`,
      detail: {
        reason: "io_uring",
        pid: 1,
        processName: "python3",
        resource: "io_uring (descriptor 3)",
      },
      message:
        "Process 1 (python3) holds an io_uring (descriptor 3), which cannot be checkpointed.",
    },
    {
      what: "a userfaultfd",
      program: `import ctypes; u = ctypes.CDLL(None).syscall(323, 1)`,
      detail: { reason: "descriptor", pid: 1, resource: "anon_inode:[userfaultfd] (descriptor 3)" },
      message:
        "Process 1 (python3) holds anon_inode:[userfaultfd] (descriptor 3), which cannot be checkpointed.",
    },
    {
      what: "a deleted file that is too large",
      program: `f = open("big", "w+b")
for i in range(257): f.write(bytes([i % 251]) * (1 << 20))
f.flush(); import os; os.unlink("big")`,
      detail: { reason: "ghost_file", pid: 1, processName: "python3" },
      message:
        "Process 1 (python3) has the deleted file /waypoint-tree/big of 257 MiB open, more than fits into a checkpoint.",
    },
    {
      what: "a user namespace of a child",
      program: `import subprocess; subprocess.Popen(["unshare", "-U", "sleep", "1000"]); import time; time.sleep(0.3)`,
      detail: { reason: "nested_namespace", processName: "sleep", resource: "user namespace" },
      message:
        /^Process \d+ \(sleep\) runs in a user namespace of its own, which cannot be checkpointed\.$/,
    },
    {
      what: "a child that is traced",
      program: `import ctypes, os, time
p = os.fork()
if p == 0: time.sleep(1000)
ctypes.CDLL(None).ptrace(0x4206, p, 0, 0)`,
      detail: { reason: "traced", resource: "ptrace" },
      message: /^Process \d+ \(python3\) is traced by process 1 \(python3\)\.$/,
    },
    {
      what: "a TCP connection that is not accepted",
      program: `import socket
s = socket.socket(); s.bind(("127.0.0.1", 4000)); s.listen(); c = socket.create_connection(("127.0.0.1", 4000))`,
      detail: { reason: "connection_in_flight", pid: 1 },
      message: "Process 1 (python3) has a connection in its queue that it has not accepted yet.",
    },
  ])("a dump that fails because of $what names it, and the tree runs on", async (sample) => {
    const tree = await trees.start(
      PYTHON,
      "-c",
      `${sample.program}
open("ready", "w").close()
import time; time.sleep(1000)`,
    );

    const failure = await trees
      .dump(tree, `f-${sample.what.replaceAll(" ", "-")}`)
      .catch((error: unknown) => error);

    expect(failure).toMatchObject({
      code: "CRIU_DUMP_FAILED",
      message:
        typeof sample.message === "string" ? sample.message : expect.stringMatching(sample.message),
      detail: sample.detail,
    });
    expect(["S", "R", "D"]).toContain(stateOf(tree.pid));
  });

  test("a connection from outside is named with the process that holds it", async () => {
    const outside = spawn(PYTHON, [
      "-c",
      `import socket, os
p = "${trees.nextOwnDir()}/out.sock"
import time
while True:
    try: s = socket.socket(socket.AF_UNIX); s.connect(p); break
    except OSError: time.sleep(0.01)
time.sleep(1000)`,
    ]);
    const tree = await trees.start(
      PYTHON,
      "-c",
      `import socket, time
s = socket.socket(socket.AF_UNIX); s.bind("out.sock"); s.listen(); c = s.accept()
open("ready", "w").close()
time.sleep(1000)`,
    );

    const failure = await trees.dump(tree, "f-outside").catch((error: unknown) => error);
    outside.kill();

    expect(failure).toMatchObject({
      code: "CRIU_DUMP_FAILED",
      detail: {
        reason: "unix_stream",
        pid: 1,
        resource: "unix socket (descriptor 4)",
      },
    });
  });

  test("images that find no space are STORE_FULL", async () => {
    const tree = await trees.start(...COUNTER);
    sh(`mkdir ${trees.directory}/small; mount -t tmpfs -o size=1M tmpfs ${trees.directory}/small`);

    const failure = await trees
      .dump(tree, "f-full", `${trees.directory}/small`)
      .catch((e: unknown) => e);
    sh(`umount ${trees.directory}/small`);

    expect(failure).toMatchObject({ code: "STORE_FULL", detail: { reason: "images_full" } });
  });

  test("a snapshot needs no program, for one action or another", async () => {
    const tree = await trees.start(...COUNTER);

    await trees.dump(tree, "f-none", undefined, "/bin/false");

    expect(existsSync(`${trees.directory}/store/f-none`)).toBe(true);
  });

  test("a snapshot that cannot be made so, and is lost after the pause, is STORE_FAILED, and the tree runs on", async () => {
    const tree = await trees.start(...COUNTER);
    const other = `${trees.directory}/store/other`;
    sh(`mkdir ${other}; mount -t tmpfs tmpfs ${other}`);

    const failure = await trees
      .dump(tree, "other/f-lost", undefined, "/bin/true")
      .catch((e: unknown) => e);
    const told = await trees.dump(tree, "other/f-told").catch((e: unknown) => e);
    sh(`umount ${other}`);

    expect(failure).toMatchObject({ code: "STORE_FAILED" });
    expect(String(failure)).toContain("The snapshot of the session's files could not be written.");
    // Its script says why.
    expect(JSON.stringify(told)).toContain("make the snapshot: Inappropriate ioctl for device");
    expect(stateOf(tree.pid)).not.toMatch(/^[TZ]/);
  });
});
