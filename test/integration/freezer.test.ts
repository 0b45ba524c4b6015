import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { Freezer } from "../../src/linux/limits/index.ts";
import { eventually } from "../support/test-waypoint.ts";

test("what works in an instance's group goes on while its tree is frozen inside of that", async () => {
  const freezer = Freezer.open({ ownerKey: `test-${process.pid}` });
  if (freezer === null) throw new Error("this machine offers no freezer");
  const file = freezer.makeFrozen("one");
  // As CRIU, which is under the limits of what it restores where those are of version 2.
  const outer = spawn("sh", ["-c", "while read line; do echo $line; done"]);
  const inner = spawn("sh", ["-c", "while read line; do echo $line; done"]);
  const ended = Promise.all([once(outer, "exit"), once(inner, "exit")]);
  try {
    const group = path.join(path.dirname(path.dirname(file)), "cgroup.procs");
    writeFileSync(group, String(outer.pid));
    writeFileSync(file, String(inner.pid));

    outer.stdin.write("works\n");
    inner.stdin.write("waits\n");
    const [said] = (await once(outer.stdout, "data")) as [Buffer];

    expect(said.toString()).toBe("works\n");
    expect(freezer.hasAll("one", [inner.pid ?? 0])).toBe(true);
    // What is just being started freezes when it gets to it.
    await eventually(
      "a frozen tree",
      () => freezer.isFrozen("one"),
      (isFrozen) => isFrozen,
    );
    expect(readFileSync(group, "utf8")).toBe(`${outer.pid}\n`);
    expect(inner.stdout.readableLength).toBe(0);
    const thawed = once(inner.stdout, "data") as Promise<[Buffer]>;
    freezer.thaw("one");
    expect((await thawed)[0].toString()).toBe("waits\n");
  } finally {
    outer.kill("SIGKILL");
    inner.kill("SIGKILL");
    await ended;
    await freezer.remove("one");
  }
  expect(freezer.list()).toEqual([]);
});

test("what an older daemon has frozen, in the instance's group itself, is thawed", async () => {
  const freezer = Freezer.open({ ownerKey: `test-old-${process.pid}` });
  if (freezer === null) throw new Error("this machine offers no freezer");
  const group = path.dirname(freezer.groupDir("one"));
  mkdirSync(group, { recursive: true });
  const frozen = spawn("sh", ["-c", "while read line; do echo $line; done"]);
  const ended = once(frozen, "exit");
  try {
    writeFileSync(path.join(group, "cgroup.procs"), String(frozen.pid));
    writeFileSync(path.join(group, "cgroup.freeze"), "1");
    frozen.stdin.write("waits\n");
    const thawed = once(frozen.stdout, "data") as Promise<[Buffer]>;

    freezer.thaw("one");

    expect((await thawed)[0].toString()).toBe("waits\n");
  } finally {
    frozen.kill("SIGKILL");
    await ended;
    await freezer.remove("one");
  }
  expect(freezer.list()).toEqual([]);
});

test("a tree of which a killed daemon has taken in a part is not held before all of it is in", async () => {
  const last = Freezer.open({ ownerKey: `test-part-${process.pid}` });
  const freezer = Freezer.open({ ownerKey: `test-part-${process.pid}` });
  if (last === null || freezer === null) throw new Error("this machine offers no freezer");
  const tree = [spawn("sleep", ["1000"]), spawn("sleep", ["1000"])];
  const ended = Promise.all(tree.map((each) => once(each, "exit")));
  const pids = tree.map(({ pid = 0 }) => pid);
  try {
    last.enlist("one", () => pids.slice(0, 1));

    expect(freezer.holds("one")).toBe(false);
    expect(freezer.hasAll("one", pids)).toBe(false);
    expect(freezer.holds("one")).toBe(false);
    expect(freezer.enlist("one", () => pids)).toBe(true);
    expect(freezer.holds("one")).toBe(true);
  } finally {
    for (const each of tree) each.kill("SIGKILL");
    await ended;
    await freezer.remove("one");
  }
  expect(freezer.holds("one")).toBe(false);
  expect(freezer.list()).toEqual([]);
});

test("a process whose first thread has ended while others run on is never held", async () => {
  const freezer = Freezer.open({ ownerKey: `test-thread-${process.pid}` });
  if (freezer === null) throw new Error("this machine offers no freezer");
  const script =
    "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(1000,)).start(); " +
    "ctypes.CDLL(None).pthread_exit(None)";
  const child = spawn("python3", ["-c", script]);
  const ended = once(child, "exit");
  const pid = child.pid ?? 0;
  try {
    await eventually(
      "the end of the first thread",
      () => readFileSync(`/proc/${pid}/status`, "utf8"),
      (status) => /^State:\s+Z/m.test(status) && /^Threads:\s+2/m.test(status),
    );

    expect(freezer.enlist("one", () => [pid])).toBe(false);

    expect(freezer.holds("one")).toBe(false);
  } finally {
    child.kill("SIGKILL");
    await ended;
    await freezer.remove("one");
  }
});
