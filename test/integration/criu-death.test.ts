import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stateLayout } from "../../src/base/index.ts";
import { type Checkpoint, type Session, WaypointError } from "../../src/index.ts";
import { findRunningCriu, type RunningCriu } from "../../src/linux/criu/index.ts";
import { killDaemon } from "../support/crash-model.ts";
import { expectedHoldings, holdingsOf } from "../support/holdings.ts";
import { findDump, killAtWork, parentOf } from "../support/running-dump.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const KILL_STEP_MS = 3;
/** So many kills that come too late have tried all moments. */
const LATE_KILLS = 3;
const KILLS_MIN = 3;

let own: TestWaypoint;
let session: Session;
let checkpoint: Checkpoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web" });
  await session.exec("marker=captured; sleep 1000 &");
  checkpoint = await session.checkpoint();
  await session.exec("marker=live");
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

const runningCriu = (command: RunningCriu["command"]) =>
  findRunningCriu((argument) => argument.startsWith(`${own.stateDir}/`)).filter(
    (each) => each.command === command,
  );

interface StoppedRestore {
  criu: RunningCriu;
  outcome: Promise<unknown>;
}

/** Begins forks until the CRIU of one is stopped when it has made the first process of the tree. */
async function stopInFork(): Promise<StoppedRestore> {
  for (;;) {
    const begun = await stopIn(() => checkpoint.fork());
    if (begun.criu !== null) return { ...begun, criu: begun.criu };
    for (const fork of (await begun.outcome) as Session[]) await fork.remove({ force: true });
  }
}

async function stopInRestore(): Promise<StoppedRestore> {
  for (;;) {
    const begun = await stopIn(() => session.restore(checkpoint));
    if (begun.criu !== null) return { ...begun, criu: begun.criu };
    await session.exec("marker=live");
  }
}

/** Stops a CRIU that has made a process of the tree; null when it was done before it was seen. */
async function stopIn(begin: () => Promise<unknown>) {
  const daemonPid = await own.daemonPid();
  let isDone = false;
  const outcome = begin()
    .catch((error: unknown) => error)
    .finally(() => {
      isDone = true;
    });
  while (!isDone) {
    const criu = findWithChild(runningCriu("restore"), daemonPid);
    if (criu !== undefined) {
      process.kill(criu.pid, "SIGSTOP");
      return { outcome, criu };
    }
    await delay(0);
  }
  return { outcome, criu: null };
}

function findWithChild(running: RunningCriu[], daemonPid: number): RunningCriu | undefined {
  const criu = running.find(({ pid }) => parentOf(pid) === daemonPid);
  return running.some(({ pid }) => parentOf(pid) === criu?.pid) ? criu : undefined;
}

/** The instance before is removed after the answer. */
async function expectNothingLeft(): Promise<void> {
  const daemonPid = await own.daemonPid();
  await eventually(
    "that nothing is left",
    () => {
      const { images: _, ...found } = holdingsOf(own.stateDir, daemonPid);
      return { found, expected: { ...expectedHoldings(own.stateDir), criu: [] } };
    },
    ({ found, expected }) => isDeepStrictEqual(found, expected),
  );
}

test.each([
  { what: "a fork", stop: stopInFork },
  { what: "a restore", stop: stopInRestore },
])("$what whose CRIU is killed says so, and leaves the session as it was", async ({ stop }) => {
  const { criu, outcome } = await stop();

  process.kill(criu.pid, "SIGKILL");

  expect(await outcome).toMatchObject({ code: "CRIU_RESTORE_FAILED", detail: { reason: "ended" } });
  expect(await session.exec("echo $marker; jobs -p | wc -l")).toMatchObject({
    stdout: "live\n1\n",
  });
  await expectNothingLeft();
  const [fork] = await checkpoint.fork();
  expect(await fork?.exec("echo $marker")).toMatchObject({ stdout: "captured\n" });
  await fork?.remove({ force: true });
});

/** Begins a checkpoint, and kills its CRIU when it has been at work for a while. */
async function killInCheckpoint(afterMs: number) {
  const daemonPid = await own.daemonPid();
  let isDone = false;
  const outcome = session
    .checkpoint()
    .catch((error: unknown) => error)
    .finally(() => {
      isDone = true;
    });
  let criu: number | undefined;
  while (criu === undefined && !isDone) {
    await delay(0);
    criu = findDump(own.stateDir, daemonPid);
  }
  await delay(afterMs);
  const wasKilled = criu !== undefined && (await killAtWork(criu));
  return { wasKilled, outcome: await outcome };
}

test("a checkpoint whose CRIU is killed at any moment says so, and the session can go back", async () => {
  let killed = 0;
  // Each kill a little later in the work, until it comes too late, which depends on the machine.
  for (let afterMs = 0, late = 0; late < LATE_KILLS; afterMs += KILL_STEP_MS) {
    await session.exec("marker=live");
    const { wasKilled, outcome } = await killInCheckpoint(afterMs);
    if (!wasKilled) {
      late += 1;
      continue;
    }
    killed += 1;
    expect(outcome).toBeInstanceOf(WaypointError);
    const error = outcome as WaypointError;
    // What CRIU had its code in goes down with it, seldom the session's first process.
    if (error.code !== "SESSION_ENDED") {
      expect(error).toMatchObject({ code: "CRIU_DUMP_FAILED", detail: { reason: "ended" } });
    }
    expect(runningCriu("dump")).toEqual([]);
    await session.restore(checkpoint);
    expect(await session.exec("echo $marker")).toMatchObject({ stdout: "captured\n" });
  }
  expect(killed).toBeGreaterThanOrEqual(KILLS_MIN);
  await expectNothingLeft();
});

test("what a daemon and its CRIU leave of a restore keeps no other daemon from starting", async () => {
  const daemonPid = await own.daemonPid();
  const { criu, outcome } = await stopInFork();

  await killDaemon(daemonPid);
  process.kill(criu.pid, "SIGKILL");

  expect(await outcome).toMatchObject({ code: "DAEMON_UNREACHABLE" });
  expect(await session.exec("echo here")).toMatchObject({ stdout: "here\n" });
  await expectNothingLeft();
});

test("a helper that a dead CRIU left of a dump keeps no other daemon from starting", async () => {
  const { pid } = await session.info();
  const images = `${stateLayout(own.stateDir).imagesDir}/none`;
  // CRIU has helpers for a millisecond each, too short to end both daemon and CRIU meanwhile.
  const dumpArguments = ["dump", "--tree", String(pid), "--images-dir", images, "--work-dir", "/"];
  const helper = spawn("sh", ["-c", "while :; do sleep 0.1; done", ...dumpArguments]);
  const ended = once(helper, "exit");
  try {
    await killDaemon(await own.daemonPid());

    expect(await session.exec("echo here")).toMatchObject({ stdout: "here\n" });
    expect(await ended).toEqual([null, "SIGKILL"]);
  } finally {
    helper.kill("SIGKILL");
  }
});
