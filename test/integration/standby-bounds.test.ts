import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { failureOf } from "../support/failing-command.ts";
import { findLeftovers, noteTraces } from "../support/leftovers.ts";
import { standbysOf, startedAtSeconds, untilReady, uptimeSeconds } from "../support/standby.ts";
import { eventually, openTestWaypoint } from "../support/test-waypoint.ts";

const MEBIBYTE = 1024 ** 2;
/** Holds some memory until it is told to end. */
const FILL = (mebibytes: number) =>
  `/usr/bin/python3 -c 'm = b"x" * (${mebibytes} << 20); print("full", flush=True); input()' <>/tmp/standby-hold >/tmp/standby-said &`;
/** CRIU refuses a corked UDP socket. */
const REFUSED = `import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(17, 1, 1); s.connect(("127.0.0.1", 9)); s.send(b"x")
open("/tmp/holds", "w").close()
time.sleep(1000)`;

async function count(of: Session): Promise<string> {
  return (await of.exec("echo $COUNT")).stdout.trim();
}

test("the budget of memory is for all standbys; what does not fit is made when asked for", async () => {
  await using own = await openTestWaypoint({
    standby: { policy: "head", budgetBytes: 100 * MEBIBYTE },
  });
  const small = await own.waypoint.new();
  const large = await own.waypoint.new();
  await large.exec(`mkfifo /tmp/standby-hold; ${FILL(120)}`);
  await eventually(
    "the memory to be full",
    async () => (await large.exec("cat /tmp/standby-said", { shell: "own" })).stdout,
    (said) => said === "full\n",
  );
  const big = await large.checkpoint();
  const point = await small.checkpoint();
  await untilReady(small, point);

  expect((await large.standby()).ready).toEqual([]);
  const { memoryBytes, budgetBytes } = await standbysOf(own);
  expect(budgetBytes).toBe(100 * MEBIBYTE);
  expect(memoryBytes).toBeLessThan(budgetBytes);
  await large.restore(big);
  expect((await large.exec("echo here")).stdout).toBe("here\n");
});

test("nothing is kept while the machine is short of memory, and the status says so", async () => {
  const short = { policy: "head", reserveBytes: 2 ** 50 };
  await using own = await openTestWaypoint({ standby: short });
  const session = await own.waypoint.new();
  const point = await session.checkpoint();

  const { reason } = await eventually(
    "a reason",
    () => standbysOf(own),
    (found) => found.reason !== null,
  );

  expect(reason).toBe("memory is short");
  expect((await standbysOf(own)).count).toBe(0);
  expect((await session.standby()).ready).toEqual([]);
  const { undoContent } = await session.restore(point);
  expect(undoContent).toBe("full");
});

test("standbys are given up when memory runs short, and come back when it does not", async () => {
  const [, available = "0"] =
    /^MemAvailable:\s+(\d+)/m.exec(readFileSync("/proc/meminfo", "utf8")) ?? [];
  const reserveBytes = Number(available) * 1024 - 1536 * MEBIBYTE;
  await using own = await openTestWaypoint({ standby: { policy: "head", reserveBytes } });
  const session = await own.waypoint.new();
  const point = await session.checkpoint();
  await untilReady(session, point);

  const filling = spawn("/usr/bin/python3", ["-c", "m = b'x' * (5 << 29); input()"]);
  await eventually(
    "the standby to go",
    () => standbysOf(own),
    ({ count: left, reason }) => left === 0 && reason === "memory is short",
    // A machine with other work takes its time to fill so much.
    60_000,
  );
  filling.kill();

  await untilReady(session, point);
});

test("a store that is nearly full has none", async () => {
  await using own = await openTestWaypoint({
    storeBytes: 1024 * MEBIBYTE,
    standby: { policy: "head" },
  });
  const session = await own.waypoint.new({ diskBytes: 900 * MEBIBYTE });
  const point = await session.checkpoint();
  await untilReady(session, point);

  await session.exec("head -c 720M /dev/urandom >/root/big; sync /root/big");

  await eventually(
    "the standby to go",
    () => standbysOf(own),
    ({ count: left, reason }) => left === 0 && reason === "the store is nearly full",
  );
});

test("processes that CRIU refuses at a restore stay frozen: undo goes on with them", async () => {
  await using own = await openTestWaypoint({ standby: { policy: "head" } });
  const session = await own.waypoint.new({ name: "corked" });
  await session.exec("COUNT=1");
  const point = await session.checkpoint();
  await session.exec(["tee", "/root/refused.py"], { shell: "own", input: REFUSED });
  await session.exec("COUNT=2; /usr/bin/python3 /root/refused.py &");
  await session.exec("until [ -e /tmp/holds ]; do sleep 0.01; done");
  await untilReady(session, point);

  const { undo } = await session.restore(point);

  expect(await count(session)).toBe("1");
  const fork = await failureOf(own, ["fork", undo ?? ""]);
  expect(fork.error.code).toBe("CRIU_DUMP_FAILED");
  const { checkpoints } = await session.log();
  expect(checkpoints.find(({ id }) => id === undo)?.changes.summary).toMatch(/^held in memory/);

  const { undo: again } = await session.undo();
  expect(await count(session)).toBe("2");
  expect((await session.exec("jobs -r")).stdout).toMatch(/refused\.py/);
  const shown = (await session.log()).checkpoints.find(({ id }) => id === undo);
  expect(shown?.content).toBe("files");

  await session.restore(again ?? "");
  expect(await count(session)).toBe("1");
  await eventually(
    "the refusal to be noted",
    async () => (await session.log()).checkpoints.map(({ changes }) => changes.summary),
    (summaries) => summaries.some((summary) => summary.startsWith("held in memory")),
  );
  await session.exec(["tee", "/root/refused.py"], { shell: "own", input: REFUSED });
  await session.exec("COUNT=3; /usr/bin/python3 /root/refused.py &");
  await session.exec("until [ -e /tmp/holds ]; do sleep 0.01; done");
  const second = await failureOf(own, ["restore", "--yes", "corked", point.id]);
  expect(second.error.code).toBe("CRIU_DUMP_FAILED");
  expect(await count(session)).toBe("3");

  const traces = await noteTraces(own.waypoint, await own.daemonPid());
  await session.remove({ force: true });
  // Standbys go in the background.
  await eventually(
    "no control group",
    async () => (await findLeftovers(traces)).filter((line) => line.startsWith("control group")),
    (left) => left.length === 0,
  );
});

test("limits hold in a fork and a restore from a standby", async () => {
  await using own = await openTestWaypoint({ standby: { policy: "head" } });
  const session = await own.waypoint.new({ memoryBytes: 96 * MEBIBYTE, pids: 40 });
  const point = await session.checkpoint();
  await untilReady(session, point);
  const calledAt = uptimeSeconds();

  const [fork] = (await point.fork(1)) as [Session];

  expect(await startedAtSeconds(fork)).toBeLessThan(calledAt);
  await fork.exec("head -c 200M /dev/zero | tail -n 1 | wc -c");
  expect((await fork.info()).limitsHit?.memory).toBe(1);
  await untilReady(session, point);
  await session.restore(point);
  await session.exec("head -c 200M /dev/zero | tail -n 1 | wc -c");
  expect((await session.info()).limitsHit?.memory).toBe(1);
});
