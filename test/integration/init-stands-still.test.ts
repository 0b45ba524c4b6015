import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { finished, runCommand, startCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { findDump, stopInCriu } from "../support/running-dump.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Far more than any of this takes, and far less than the minutes that it took once. */
const SECONDS_MS = 25_000;
/** Attaches to PID 1 and lets it stand, as a debugger does that waits for its user. */
const TRACE_INIT =
  "setsid python3 -c 'import ctypes,time;ctypes.CDLL(None).ptrace(16,1,0,0);time.sleep(999)' &";

let own: TestWaypoint;
let session: Session;

beforeEach(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web" });
  await session.exec("echo kept > /root/file");
});

afterEach(async () => {
  await own?.[Symbol.asyncDispose]();
}, 60_000);

const pidOf = async (of: Session = session) => (await of.info()).pid as number;
const stateOf = (pid: number) =>
  /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "";

async function traceInit(): Promise<number> {
  const pid = await pidOf();
  await session.exec(TRACE_INIT, { shell: "own" });
  await eventually(
    "the trace",
    () => stateOf(pid),
    (state) => state === "t",
  );
  return pid;
}

/** Freezes a process in a control group of its own, as `docker pause` does; what is returned removes the group. */
async function freeze(pid: number): Promise<AsyncDisposable> {
  const daemon = `/proc/${await own.daemonPid()}`;
  const mounts = readFileSync(`${daemon}/mountinfo`, "utf8").split("\n");
  const mount = mounts.find((line) => line.includes(" - cgroup2 "))?.split(" ")[4] ?? "";
  // Held, since the daemon's mounts go with it.
  const mountFd = openSync(path.join(daemon, "root", mount), "r");
  const directory = `/proc/self/fd/${mountFd}/waypoint-test-${process.pid}`;
  mkdirSync(directory);
  writeFileSync(path.join(directory, "cgroup.procs"), String(pid));
  writeFileSync(path.join(directory, "cgroup.freeze"), "1");
  return {
    [Symbol.asyncDispose]: async () => {
      using _mount = { [Symbol.dispose]: () => closeSync(mountFd) };
      writeFileSync(path.join(directory, "cgroup.kill"), "1");
      await eventually(
        "an empty group",
        () => readFileSync(path.join(directory, "cgroup.procs"), "utf8"),
        (processes) => processes === "",
      );
      rmdirSync(directory);
    },
  };
}

/** What became of `work`: fails the test where it takes minutes. */
async function inSeconds<T>(work: Promise<T>): Promise<T | { code: string; message: string }> {
  const outcome = work.catch((error: { code: string; message: string }) => error);
  const late = delay(SECONDS_MS, "late" as const, { ref: false });
  const first = await Promise.race([outcome, late]);
  if (first === "late") throw new Error("it did not come back in seconds");
  return first as T;
}

const TRACED = {
  code: "SESSION_UNRESPONSIVE",
  message: expect.stringMatching(
    /^The session's first process is traced by process \d+ \(python3\)\.$/,
  ),
};

test("a session whose first process is traced says so, keeps its files and can be removed", async () => {
  await traceInit();

  expect(await inSeconds(session.exec("true", { timeoutMs: 1_000 }))).toMatchObject(TRACED);
  expect(await inSeconds(session.checkpoint())).toMatchObject(TRACED);
  expect(await inSeconds(session.stop())).toMatchObject(TRACED);
  const files = await session.checkpoint({ filesOnly: true });
  const plain = await inSeconds(session.restore(files));
  expect(plain).toMatchObject(TRACED);
  expect(plain).toMatchObject({
    hint: expect.stringContaining("`waypoint restore --lose-processes` goes back"),
  });
  expect((await session.info()).silence).toMatch(/^is traced by process \d+/);
  expect(await inSeconds(session.restore(files, { loseProcesses: true }))).toMatchObject({
    checkpoint: files.id,
  });
  expect((await session.exec("cat /root/file")).stdout).toBe("kept\n");
  const pid = await traceInit();
  await inSeconds(session.remove({ force: true }));
  expect(await own.waypoint.sessions()).toEqual([]);
  expect(existsSync(`/proc/${pid}/root`)).toBe(false);
}, 120_000);

test("all sessions end with the daemon, traced, stopped and frozen ones too", async () => {
  const traced = await traceInit();
  const stopped = await pidOf(await own.waypoint.new({ name: "stopped" }));
  process.kill(stopped, "SIGSTOP");
  const frozen = await own.waypoint.new({ name: "frozen" });
  const frozenPid = await pidOf(frozen);
  await using _group = await freeze(frozenPid);
  expect(await inSeconds(frozen.exec("true"))).toMatchObject({
    message: "The session's first process is frozen by its control group.",
  });

  const ended = await inSeconds(runCommand(own.stateDir, ["daemon", "stop", "--sessions"]));

  expect(ended).toMatchObject({ exitCode: 0 });
  const pids = [traced, stopped, frozenPid];
  expect(pids.filter((pid) => existsSync(`/proc/${pid}/root`))).toEqual([]);
  expect((await own.waypoint.sessions()).map(({ state }) => state)).toEqual(
    pids.map(() => "stopped"),
  );
}, 120_000);

test("a stopped session delays no start, and is found again when it goes on", async () => {
  const pid = await pidOf();
  await own.waypoint.new({ name: "other" });
  const listAfterDeath = async () => {
    await killDaemon(await own.daemonPid());
    const startedAtMs = performance.now();
    const told = await runCommand(own.stateDir, ["ls"]);
    return { told, tookMs: performance.now() - startedAtMs };
  };
  const { tookMs: ordinaryMs } = await listAfterDeath();
  process.kill(pid, "SIGSTOP");

  const { told, tookMs } = await listAfterDeath();

  expect(told.stdout).toMatch(/web\s+running, is stopped by a signal/);
  expect(told.stdout).toMatch(/other\s+running {2}/);
  // It took ten seconds longer once.
  expect(tookMs - ordinaryMs).toBeLessThan(9_000);
  expect(await session.exec("true").catch((error: unknown) => error)).toMatchObject({
    code: "SESSION_UNRESPONSIVE",
    message: "The session's first process is stopped by a signal.",
    hint: expect.stringContaining(`kill -CONT ${pid}`),
  });
  process.kill(pid, "SIGCONT");
  const look = () => session.exec("cat /root/file").catch((error: unknown) => error);
  await eventually("an answer", look, (seen) => (seen as { stdout?: string }).stdout === "kept\n");
}, 120_000);

test("a stopped session goes on with what it is asked after it was let go on", async () => {
  const pid = await pidOf();
  process.kill(pid, "SIGSTOP");
  const never = session.exec("echo never >> /root/file", { shell: "own" });

  expect(await inSeconds(never)).toMatchObject({ code: "SESSION_UNRESPONSIVE" });
  expect(await inSeconds(session.checkpoint())).toMatchObject({ code: "SESSION_UNRESPONSIVE" });

  process.kill(pid, "SIGCONT");
  expect(await inSeconds(session.checkpoint())).toMatchObject({ info: { content: "full" } });
  expect((await session.exec("echo again")).stdout).toBe("again\n");
}, 120_000);

test("a command whose time is over returns, also when nothing can interrupt it", async () => {
  const pid = await pidOf();
  const begun = Promise.withResolvers<void>();
  const running = session.exec("echo begun; sleep 1000", {
    timeoutMs: 4_000,
    onStdout: () => begun.resolve(),
  });
  await begun.promise;
  process.kill(pid, "SIGSTOP");

  expect(await inSeconds(running)).toMatchObject({ exitCode: 124, timedOut: true });
}, 120_000);

test("a CRIU that stands still keeps no session from being removed", async () => {
  await session.exec("exec python3 -c 'import time; x = bytearray(200 << 20); time.sleep(999)' &");
  const { outcome } = await stopCheckpoint();

  await inSeconds(session.remove({ force: true }));

  expect(await outcome).toBeInstanceOf(Error);
  expect(findDump(own.stateDir, await own.daemonPid())).toBeUndefined();
}, 120_000);

test("a CRIU that somebody has stopped is let go on, and the session with it", async () => {
  await session.exec("python3 -c 'import time; x = bytearray(200 << 20); time.sleep(999)' &");
  const { outcome } = await stopCheckpoint();

  // CRIU's own time for the tree to stand still may be over by then.
  const ended = (await inSeconds(outcome)) as { code?: string };
  expect([undefined, "CRIU_DUMP_FAILED"]).toContain(ended.code);
  expect((await session.exec("cat /root/file")).stdout).toBe("kept\n");
  expect(await session.checkpoint()).toMatchObject({ info: { content: "full" } });
}, 120_000);

test("a client that a signal asks to end does so, whatever the daemon is at", async () => {
  const daemonPid = await own.daemonPid();
  process.kill(daemonPid, "SIGSTOP");
  try {
    for (const args of [["ls"], ["checkpoint", "web"], ["exec", "web", "--", "true"]]) {
      const child = startCommand(own.stateDir, args);
      const ended = finished(child);
      // Node answers no signal before it has started.
      await eventually("its connection", () => isConnected(child.pid ?? 0), Boolean);
      child.kill("SIGTERM");
      expect(await inSeconds(ended)).toMatchObject({
        exitCode: 130,
        stderr: expect.stringMatching(/has not answered|was cancelled/),
      });
    }
  } finally {
    process.kill(daemonPid, "SIGCONT");
  }
}, 120_000);

async function stopCheckpoint() {
  const { stateDir } = own;
  const wanted = { stateDir, daemonPid: await own.daemonPid(), command: "dump" } as const;
  return await stopInCriu(wanted, () => session.checkpoint());
}

/** Whether a process has a socket that it has sent something to, and waits. */
function isConnected(pid: number): boolean {
  const fds = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
  // Two of its sockets are its outputs.
  return fds.filter((target) => target.startsWith("socket:")).length > 2;
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return "";
  }
}
