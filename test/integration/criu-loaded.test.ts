import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pollUntil } from "../../src/base/index.ts";
import { parseChildren } from "../../src/formats/proc/index.ts";
import type { Session } from "../../src/index.ts";
import { killDaemon } from "../support/crash-model.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const ROUNDS = 20;
/** A fork of a shell takes some dozens of milliseconds; the kill comes anywhere in it. */
const KILL_AFTER_MS_MAX = 40;

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web" });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

function childrenOf(pid: number): number[] {
  return parseChildren(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8"));
}

function isWaiting(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--------");
  } catch {
    return false; // It has ended.
  }
}

function isZombie(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

/** Returns the CRIU that waits for the next run. */
async function waitingOf(daemonPid: number): Promise<number> {
  return await pollUntil("a CRIU that waits", { timeoutMs: 20_000 }, () =>
    childrenOf(daemonPid).find(isWaiting),
  );
}

test.each(["SIGKILL", "SIGSTOP"] as const)(
  "when the CRIU that waits gets %s, checkpoints and forks go on, and another takes its place",
  async (signal) => {
    const daemonPid = await own.daemonPid();
    await session.exec(`echo ${signal} >/srv/signal`);
    const waiting = await waitingOf(daemonPid);
    process.kill(waiting, signal);

    const checkpoint = await session.checkpoint();
    const [fork] = await checkpoint.fork();
    expect((await fork?.exec("cat /srv/signal"))?.stdout).toBe(`${signal}\n`);
    await fork?.remove({ force: true });

    expect(await waitingOf(daemonPid)).not.toBe(waiting);
  },
);

test("kills of the CRIU that waits, at any moment, fail nothing, do nothing twice and leave no process", async () => {
  const daemonPid = await own.daemonPid();
  const checkpoint = await session.checkpoint();
  for (let round = 0; round < ROUNDS; round += 1) {
    const working = Promise.all([session.checkpoint(), checkpoint.fork(2)]);
    const afterMs = (KILL_AFTER_MS_MAX * round) / ROUNDS;
    const killing = delay(afterMs).then(() => {
      const pid = childrenOf(daemonPid).find(isWaiting);
      if (pid !== undefined) process.kill(pid, round % 2 === 0 ? "SIGKILL" : "SIGSTOP");
    });
    const [[, forks]] = await Promise.all([working, killing]);
    for (const fork of forks) {
      // One tree alone: a second one in the same root would answer, too.
      const { stdout } = await fork.exec("ps -e -o comm= | grep -c waypoint-init || true");
      expect(Number(stdout)).toBeLessThanOrEqual(1);
      await fork.remove({ force: true });
    }
  }
  await expect.poll(() => childrenOf(daemonPid).filter(isZombie), { timeout: 20_000 }).toEqual([]);
});

test("the CRIU that waits ends with its daemon, however that ends", async () => {
  const daemonPid = await own.daemonPid();
  // Where the last one was killed, whoever needs the next one has it loaded.
  await session.exec("echo again >/srv/again");
  await session.checkpoint();
  const waiting = await waitingOf(daemonPid);
  await killDaemon(daemonPid);
  await expect.poll(() => isWaiting(waiting), { timeout: 20_000 }).toBe(false);
  expect((await session.exec("echo lives")).stdout).toBe("lives\n");
});
