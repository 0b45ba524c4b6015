import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

// What stands in the way of a session's end and is no work of Waypoint's.

/** Far more than any of this takes: ten seconds where the kernel lets nothing be killed. */
const SECONDS_MS = 40_000;
const FREEZER_DIR = "/sys/fs/cgroup/freezer";

/** Two processes that trace each other; PTRACE_SEIZE stops neither. */
const TRACE_EACH_OTHER = `import ctypes, os, time
ptrace = ctypes.CDLL(None).ptrace
parent = os.getpid()
ctypes.CDLL(None).prctl(0x59616d61, -1, 0, 0, 0)
child = os.fork()
other = child or parent
assert ptrace(0x4206, other, 0, 0) == 0
open(f"/tmp/traces-{'child' if child else 'parent'}", "w")
time.sleep(999)`;

let own: TestWaypoint;
let session: Session;

beforeEach(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web" });
});

afterEach(async () => {
  await own?.[Symbol.asyncDispose]();
}, 60_000);

const pidOf = async (of: Session) => (await of.info()).pid as number;

/** What became of `work`: fails the test where it does not come back. */
async function inSeconds<T>(work: Promise<T>): Promise<T | { code: string; message: string }> {
  const outcome = work.catch((error: { code: string; message: string }) => error);
  const late = delay(SECONDS_MS, "late" as const, { ref: false });
  const first = await Promise.race([outcome, late]);
  if (first === "late") throw new Error("it did not come back in seconds");
  return first as T;
}

/** A process of the host that stands in a session's mounts and has a file of them open. */
async function holdMounts(of: Session): Promise<ChildProcess> {
  const script = "cd /root; exec 3</etc/passwd; echo held; exec sleep 999";
  const args = ["-t", String(await pidOf(of)), "-m", "sh", "-c", script];
  const holder = spawn("nsenter", args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(holder.stdout as NodeJS.ReadableStream, "data");
  return holder;
}

async function end(holder: ChildProcess): Promise<void> {
  const ended = once(holder, "exit");
  holder.kill("SIGKILL");
  await ended;
}

/** Freezes a process in a group of version 1, where nothing kills it until it is thawed. */
function freeze(pid: number): AsyncDisposable {
  const directory = path.join(FREEZER_DIR, `waypoint-test-${process.pid}`);
  const state = path.join(directory, "freezer.state");
  mkdirSync(directory);
  writeFileSync(path.join(directory, "cgroup.procs"), String(pid));
  writeFileSync(state, "FROZEN");
  return {
    [Symbol.asyncDispose]: async () => {
      writeFileSync(state, "THAWED");
      const procs = path.join(directory, "cgroup.procs");
      await eventually(
        "an empty group",
        () => readFileSync(procs, "utf8"),
        (text) => text === "",
      );
      rmdirSync(directory);
    },
  };
}

test("a process of the host in a session's mounts keeps nothing from ending", async () => {
  const other = await own.waypoint.new({ name: "other" });
  const holders = [await holdMounts(session), await holdMounts(other)];
  const pids = [await pidOf(session), await pidOf(other)];
  try {
    await inSeconds(session.stop());
    expect((await session.info()).state).toBe("stopped");
    expect(await inSeconds(runCommand(own.stateDir, ["rm", "--force", "web"]))).toMatchObject({
      exitCode: 0,
    });
    expect(
      await inSeconds(runCommand(own.stateDir, ["daemon", "stop", "--sessions"])),
    ).toMatchObject({ exitCode: 0 });
    expect(pids.filter((pid) => existsSync(`/proc/${pid}/root`))).toEqual([]);
    expect((await own.waypoint.sessions()).map(({ name, state }) => [name, state])).toEqual([
      ["other", "stopped"],
    ]);
  } finally {
    await Promise.all(holders.map(end));
  }
}, 120_000);

test.runIf(existsSync(FREEZER_DIR))(
  "a session that a group of version 1 has frozen from outside is named, and ends",
  async () => {
    const other = await own.waypoint.new({ name: "other" });
    const frozenBy = "The session's first process is frozen by its control group.";
    {
      await using _ = freeze(await pidOf(session));
      expect(await inSeconds(session.exec("true"))).toMatchObject({
        code: "SESSION_UNRESPONSIVE",
        message: frozenBy,
      });
      expect(await inSeconds(session.checkpoint())).toMatchObject({ message: frozenBy });
      expect(await inSeconds(session.stop())).toMatchObject({ message: frozenBy });
      expect(await inSeconds(runCommand(own.stateDir, ["rm", "--force", "web"]))).toMatchObject({
        exitCode: 0,
      });
    }
    {
      await using _ = freeze(await pidOf(other));
      const pid = await pidOf(other);
      const stopping = runCommand(own.stateDir, ["daemon", "stop", "--sessions"]);
      expect(await inSeconds(stopping)).toMatchObject({ exitCode: 0 });
      expect(existsSync(`/proc/${pid}/root`)).toBe(false);
    }
  },
  120_000,
);

test("a file that a process of the host has open keeps no running session from ending", async () => {
  const pids = [await pidOf(session), await pidOf(await own.waypoint.new({ name: "other" }))];
  const held = pids.map((pid) => openSync(`/proc/${pid}/root/etc/passwd`, "r"));
  try {
    await inSeconds(session.remove({ force: true }));
    expect((await own.waypoint.sessions()).map(({ name }) => name)).toEqual(["other"]);

    const stopping = runCommand(own.stateDir, ["daemon", "stop", "--sessions"]);

    expect(await inSeconds(stopping)).toMatchObject({ exitCode: 0 });
    expect(pids.filter((pid) => existsSync(`/proc/${pid}/root`))).toEqual([]);
  } finally {
    for (const descriptor of held) closeSync(descriptor);
  }
}, 120_000);

test("processes that trace each other are named, and end with their session", async () => {
  await session.exec(`setsid python3 -c '${TRACE_EACH_OTHER.replaceAll("'", `'"'"'`)}' &`, {
    shell: "own",
  });
  await eventually(
    "both to trace",
    () => session.exec("ls /tmp/traces-child /tmp/traces-parent", { shell: "own" }),
    ({ exitCode }) => exitCode === 0,
  );

  expect(await inSeconds(session.checkpoint())).toMatchObject({
    code: "CRIU_DUMP_FAILED",
    message: expect.stringMatching(
      /^Process \d+ \(python3\) is traced by process \d+ \(python3\)\.$/,
    ),
  });
  const pid = await pidOf(session);
  await inSeconds(session.remove({ force: true }));
  expect(existsSync(`/proc/${pid}/root`)).toBe(false);
}, 120_000);

test("a first process whose tracer is stopped itself is named, and ends", async () => {
  const program = "import ctypes,os;ctypes.CDLL(None).ptrace(16,1,0,0);os.kill(os.getpid(),19)";
  const pid = await pidOf(session);
  await session.exec(`setsid python3 -c '${program}' &`, { shell: "own" });
  await eventually(
    "the trace",
    () => readFileSync(`/proc/${pid}/status`, "utf8"),
    (status) => /^State:\s+t/m.test(status),
  );
  const tracer = /^TracerPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  await eventually(
    "the tracer to stand still",
    () => readFileSync(`/proc/${tracer}/status`, "utf8"),
    (status) => /^State:\s+T/m.test(status),
  );

  expect(await inSeconds(session.exec("true"))).toMatchObject({
    code: "SESSION_UNRESPONSIVE",
    message: expect.stringMatching(/is traced by process \d+ \(python3\)\.$/),
  });
  await inSeconds(session.remove({ force: true }));
  expect(existsSync(`/proc/${pid}/root`)).toBe(false);
}, 120_000);
