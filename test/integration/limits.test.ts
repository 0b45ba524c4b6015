import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stateLayout } from "../../src/base/index.ts";
import type { Session } from "../../src/index.ts";
import { cgroupMounts } from "../../src/limits/index.ts";
import { runCommand } from "../support/command-line.ts";
import { failureOf } from "../support/failing-command.ts";
import { findLeftovers, noteTraces } from "../support/leftovers.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { readWholeState } from "../support/whole-state.ts";

const MEBIBYTE = 1024 ** 2;
const FILL_200_MIB = "head -c 200M /dev/zero | tail -n 1 | wc -c";
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
  free = await own.waypoint.new({ name: "free" });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Returns the groups of this Waypoint's sessions: what is on the machine, not what is told. */
function groups(): string[] {
  const mounts = cgroupMounts(readFileSync("/proc/self/mountinfo", "utf8"), "memory cpu pids");
  const name = `waypoint-${stateLayout(own.stateDir).key}`;
  const parents = Object.values(mounts.directories).map((mount) => path.join(mount, name));
  const found = parents.filter((parent) => existsSync(parent)).flatMap((parent) => list(parent));
  return [...new Set(found)].sort();
}

function list(parent: string): string[] {
  const entries = readdirSync(parent, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

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
  const file = `/proc/${hostPid}/cgroup`;
  return existsSync(file) && !readFileSync(file, "utf8").includes(sessionId);
}

async function noticesOf(session: Session, command: string): Promise<string[]> {
  const notices: string[] = [];
  await session.exec(command, { onNotice: (notice) => notices.push(notice) });
  return notices;
}

describe("a session with limits", () => {
  test("tells them, and all its processes are under them", async () => {
    const { limits, limitsHit } = await limited.info();

    expect(limits).toEqual({ memoryBytes: 96 * MEBIBYTE, cpus: 0.5, pids: 40 });
    expect(limitsHit).toEqual({ memory: 0, pids: 0 });
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
    expect((await runCommand(own.stateDir, ["ls"])).stdout).toMatch(/at its limit: memory/);
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
      "bash -c 'while (($(date +%s%N) < '$(($(date +%s%N) + 1000000000))')); do :; done; times'";

    const { stdout } = await limited.exec(command);

    // Of one second of work, half a processor gives half a second, plus what a period allows.
    const seconds = [...stdout.matchAll(/0m([\d.]+)s/g)].map((match) => Number(match[1]));
    expect(seconds.reduce((sum, each) => sum + each, 0)).toBeLessThan(0.85);
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
      ...{ memoryBytes: 96 * MEBIBYTE, cpus: 0.5, pids: 40 },
    });
    const notices = await noticesOf(forks[0] as Session, FILL_200_MIB);
    expect(notices).toHaveLength(1);
    expect((await (forks[1] as Session).info()).limitsHit).toEqual({ memory: 0, pids: 0 });
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
      (info) => info !== null,
    );

    expect(found?.pid).toBe(pid);
    await eventually("one group", groups, (found) => found.length === 1);
    expect(groups()[0]).toContain(limited.id);
    expect(await strays(limited)).toEqual([]);
  });
});

describe("limits that cannot be", () => {
  test.each([
    ["memory", "1M", /cannot start with 1048576 bytes of memory\.$/],
    ["pids", "2", /cannot start with 2 processes\.$/],
    ["cpus", "0.001", /cannot start with 0\.001 of a processor\.$/],
    ["memory", "much", /./],
    ["cpus", "-1", /./],
  ])("--%s %s: says so and leaves nothing", async (option, value, sentence) => {
    const before = await readWholeState(own);

    const { error, exitCode } = await failureOf(own, ["new", "x", `--${option}=${value}`]);

    expect({ code: error.code, exitCode }).toEqual({ code: "USAGE_INVALID", exitCode: 2 });
    expect(error.message).toMatch(sentence);
    expect(await readWholeState(own)).toEqual(before);
    expect(groups()).toHaveLength(1);
  });
});

test("the end of the sessions is the end of their groups", async () => {
  const traces = await noteTraces(own.waypoint, await own.daemonPid());

  await limited.remove({ force: true });

  expect(groups()).toEqual([]);
  const left = await findLeftovers(traces);
  expect(left.filter((line) => line.startsWith("control group"))).toEqual([]);
});
