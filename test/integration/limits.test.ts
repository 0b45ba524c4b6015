import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { failureOf } from "../support/failing-command.ts";
import { findLeftovers, noteTraces } from "../support/leftovers.ts";
import { processorShares, sessionGroups } from "../support/session-groups.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const MEBIBYTE = 1024 ** 2;
const FILL_200_MIB = "head -c 200M /dev/zero | tail -n 1 | wc -c";
/** No process of it is as large as the memory limit, so the kernel ends whom it likes least. */
const FILL_SIX_TIMES = "for i in 1 2 3 4 5 6; do head -c 20M /dev/zero | tail -n 1 & done; wait";
/** In sh, which ends at once where it cannot fork; bash would wait and try again. */
const START_60 =
  'trap "kill \\$pids" EXIT; i=0; while [ $i -lt 60 ]; do i=$((i+1)); sleep 30 & pids="$pids $!"; done';

let own: TestWaypoint;
let limited: Session;
let free: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  const limits = { memoryBytes: 96 * MEBIBYTE, cpus: 0.5, pids: 40 };
  limited = await own.waypoint.new({ name: "limited", ...limits });
  free = await own.waypoint.new({ name: "free", pids: null });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Returns which of a session's processes are outside its groups; those that end are none. */
async function strays(session: Session): Promise<string[]> {
  const look = async () => {
    const processes = await session.ps();
    return processes.filter(({ hostPid }) => isOutside(hostPid, session.id));
  };
  const areInside = (found: { hostPid: number }[]) => found.length === 0;
  const found = await eventually("all to be in the groups", look, areInside, 3_000);
  return found.map(({ command }) => command);
}

function isOutside(hostPid: number, sessionId: string): boolean {
  try {
    return !readFileSync(`/proc/${hostPid}/cgroup`, "utf8").includes(sessionId);
  } catch {
    return false; // It has ended.
  }
}

async function noticesOf(session: Session, command: string): Promise<string[]> {
  const notices: string[] = [];
  await session.exec(command, { onNotice: (notice) => notices.push(notice) });
  // On a busy machine any command may also have to wait for its share of the processors.
  return notices.filter((notice) => !notice.includes("had to wait"));
}

describe("a session with limits", () => {
  test("tells them, and all its processes are under them", async () => {
    const { limits, limitsHit } = await limited.info();

    expect(limits).toEqual({ memoryBytes: 96 * MEBIBYTE, cpus: 0.5, pids: 40, diskBytes: null });
    expect(limitsHit).toEqual({ memory: 0, pids: 0, cpuHeldBackMs: expect.any(Number) });
    expect(await strays(limited)).toEqual([]);
  });

  test("is told when memory runs out, and lives on; so do the others", async () => {
    await limited.exec("kept=yes");

    const notices = await noticesOf(limited, FILL_200_MIB);

    expect(notices).toEqual([
      "the session reached its memory limit of 96 MiB: the kernel ended a process",
    ]);
    expect((await limited.info()).limitsHit?.memory).toBeGreaterThan(0);
    expect((await limited.exec("echo $kept")).stdout).toBe("yes\n");
    expect(await noticesOf(free, FILL_200_MIB)).toEqual([]);
    expect((await runCommand(own.stateDir, ["ls"])).stdout).toMatch(
      /running, was at its limit: memory (once|\d+ times)/,
    );
  });

  test("is told when it has too many processes, and lives on; so do the others", async () => {
    const notices = await noticesOf(limited, `sh -c '${START_60}'`);

    expect(notices).toContain(
      "the session reached its limit of 40 processes: one could not be started",
    );
    expect((await free.exec(`sh -c '${START_60}; echo ok'`)).stdout).toBe("ok\n");
    await eventually(
      "the shell to work again",
      () => limited.exec("echo $(echo again)"),
      ({ stdout }) => stdout === "again\n",
    );
  });

  test("gets no more of the processors than it may", async () => {
    const command =
      "bash -c 'from=$(date +%s%N); until ((to = $(date +%s%N), to > from + 1000000000)); do :; done; " +
      "echo $((to - from)); times'";

    const { stdout } = await limited.exec(command);

    // Of each second half a processor gives half a second, plus what a period allows.
    const wallSeconds = Number(stdout.split("\n", 1)[0]) / 1e9;
    const seconds = [...stdout.matchAll(/0m([\d.]+)s/g)].map((match) => Number(match[1]));
    const usedSeconds = seconds.reduce((sum, each) => sum + each, 0);
    expect(usedSeconds).toBeGreaterThan(0);
    expect(usedSeconds).toBeLessThan(0.5 * wallSeconds + 0.35);
  });

  test("is told that it had to wait for the processors, and is not held up by a dump", async () => {
    const slow = await own.waypoint.new({ name: "slow", cpus: 0.05, shell: "sh" });
    const notices: string[] = [];
    const spin = "i=0; while [ $i -lt 120000 ]; do i=$((i+1)); done";
    await slow.exec(spin, { onNotice: (notice) => notices.push(notice) });

    const held = (await slow.info()).limitsHit?.cpuHeldBackMs ?? 0;
    const checkpoint = await slow.checkpoint();
    await slow.restore(checkpoint.id);

    expect(notices).toContainEqual(
      expect.stringMatching(
        /^the session reached its limit of 0\.05 processors: its processes had to wait, [\d.]+ s in all$/,
      ),
    );
    expect(held).toBeGreaterThan(1_000);
    expect((await slow.exec("echo back")).stdout).toBe("back\n");
    await eventually(
      "the group of before the restore to be gone",
      () => processorShares(own.stateDir, slow.id),
      (quotas) => quotas.length === 1 && quotas[0] === "5000",
    );
    await slow.remove({ force: true });
  });

  test("that ends for want of memory says so, everywhere; the others live on", async () => {
    const doomed = await own.waypoint.new({ name: "doomed", memoryBytes: 64 * MEBIBYTE });
    const checkpoint = await doomed.checkpoint();
    await doomed.exec("echo 1000 >/proc/1/oom_score_adj");

    const { error } = await failureOf(own, ["exec", "doomed", "--", FILL_SIX_TIMES]);

    const reason = "out of memory (limit 64 MiB)";
    expect({ code: error.code, message: error.message }).toEqual({
      code: "SESSION_ENDED",
      message: `Session doomed ended: ${reason}.`,
    });
    const ended = await eventually(
      "the session to be ended",
      () => doomed.info(),
      ({ state }) => state === "ended",
    );
    expect(ended.limitsHit?.memory).toBeGreaterThan(0);
    const { stdout } = await runCommand(own.stateDir, ["ls"]);
    expect(stdout).toMatch(/^doomed +ended, was at its limit: memory/m);
    const { error: later } = await failureOf(own, ["exec", "doomed", "--", "true"]);
    expect(later.code).toBe("SESSION_WRONG_STATE");
    expect(later.message).toBe(
      `Session doomed is not running: its processes have ended: ${reason}.`,
    );
    expect((await free.exec("echo lives")).stdout).toBe("lives\n");

    await doomed.restore(checkpoint.id);
    expect((await doomed.info()).limitsHit).toMatchObject({ memory: 0 });
    expect((await doomed.exec("echo back")).stdout).toBe("back\n");
    await doomed.remove({ force: true });
  });

  test("is under the same limits after a restore, and so is each fork", async () => {
    const checkpoint = await limited.checkpoint();
    const forks = await checkpoint.fork(2);

    await limited.restore(checkpoint.id);

    for (const session of [limited, ...forks]) {
      expect(await strays(session)).toEqual([]);
      expect((await session.info()).limits.memoryBytes).toBe(96 * MEBIBYTE);
    }
    expect((await checkpoint.show()).limits).toEqual({
      ...{ memoryBytes: 96 * MEBIBYTE, cpus: 0.5, pids: 40, diskBytes: null },
    });
    const notices = await noticesOf(forks[0] as Session, FILL_200_MIB);
    expect(notices).toHaveLength(1);
    expect((await (forks[1] as Session).info()).limitsHit).toMatchObject({ memory: 0, pids: 0 });
    await Promise.all(forks.map((fork) => fork.remove({ force: true })));
  });

  test("comes back when it has nearly all the processes that it may have", async () => {
    const full = await own.waypoint.new({ name: "full", pids: 12 });
    await full.exec("for i in 1 2 3 4 5 6 7 8; do sleep 1000 & done");
    const checkpoint = await full.checkpoint();

    await full.restore(checkpoint.id);

    expect((await full.exec("jobs")).stdout.match(/sleep 1000/g)).toHaveLength(8);
    expect(await strays(full)).toEqual([]);
    await full.remove({ force: true });
  });

  test("keeps its groups over the daemon's death, and nothing else has any", async () => {
    const { pid } = await limited.info();
    process.kill(await own.daemonPid(), "SIGKILL");

    const found = await eventually(
      "the next daemon",
      () => limited.info().catch(() => null),
      (info) => info?.pid === pid,
    );

    expect(found?.pid).toBe(pid);
    await eventually(
      "one group",
      () => sessionGroups(own.stateDir),
      (found) => found.length === 1,
    );
    expect(sessionGroups(own.stateDir)[0]).toContain(limited.id);
    expect(await strays(limited)).toEqual([]);
  });
});

test("the end of the sessions is the end of their groups", async () => {
  const traces = await noteTraces(own.waypoint, await own.daemonPid());

  await limited.remove({ force: true });

  expect(sessionGroups(own.stateDir)).toEqual([]);
  const left = await findLeftovers(traces);
  expect(left.filter((line) => line.startsWith("control group"))).toEqual([]);
});
