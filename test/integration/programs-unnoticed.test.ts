import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const CHECKPOINTS = 6;
const CHURNED_CHECKPOINTS = 30;

/** Writes the monotonic clock to a file about every millisecond until it is told to stop. */
const TICKER = `
import os, time
with open("/root/ticks", "w") as ticks:
    while not os.path.exists("/root/stop"):
        time.sleep(0.001)
        ticks.write(f"{time.monotonic_ns()}\\n")
        ticks.flush()
`;

/** Prints numbers without an end until it is told to stop. */
const COUNTER =
  "i=0; until [ -e /root/stop ]; do i=$((i+1)); echo n=$i.; read -t 0.0005 _ < /dev/zero; done; echo last=$i.";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** From when to when a checkpoint was taken, in milliseconds of the monotonic clock. */
interface Taken {
  fromMs: number;
  toMs: number;
}

const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

/** Takes checkpoints, each when `progress` says that the program has moved on since the last. */
async function takeCheckpoints(
  session: Session,
  progress: () => number | Promise<number>,
): Promise<Taken[]> {
  const checkpoints: Taken[] = [];
  for (let number = 0; number < CHECKPOINTS; number += 1) {
    const before = await progress();
    await eventually("progress", progress, (now) => now >= before + 20);
    const fromMs = nowMs();
    await session.checkpoint();
    checkpoints.push({ fromMs, toMs: nowMs() });
  }
  const before = await progress();
  await eventually("progress", progress, (now) => now >= before + 20);
  return checkpoints;
}

const durationMs = ({ fromMs, toMs }: Taken) => toMs - fromMs;

/** Returns the numbers 1 to `count`. */
function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

describe("a program that runs while checkpoints are taken", () => {
  test("ticks on, stands still for no longer than the checkpoint, and sees no error", async () => {
    const session = await own.waypoint.new();
    await session.exec(["tee", "/root/ticker.py"], { shell: "own", input: TICKER });
    await session.exec("/usr/bin/python3 /root/ticker.py 2> /root/errors & ticker=$!");
    const readTicks = async () => {
      const { stdout } = await session.exec("cat /root/ticks", { shell: "own" });
      return stdout.trim().split("\n").map(Number);
    };

    const checkpoints = await takeCheckpoints(session, async () => (await readTicks()).length);
    const { exitCode } = await session.exec("touch /root/stop; wait $ticker");

    expect((await session.exec("cat /root/errors")).stdout).toBe("");
    expect(exitCode).toBe(0);
    const ticksMs = (await readTicks()).map((tick) => tick / 1e6);
    const gaps = ticksMs.slice(1).map((toMs, index) => ({ fromMs: ticksMs[index] ?? 0, toMs }));
    const standsStill = ({ fromMs, toMs }: Taken) =>
      checkpoints.find((each) => fromMs < each.toMs && toMs > each.fromMs);
    // What this machine does to a program anyway.
    const ordinaryMs = Math.max(...gaps.filter((gap) => !standsStill(gap)).map(durationMs));
    expect(Math.min(...gaps.map(durationMs))).toBeGreaterThan(0);
    for (const gap of gaps) {
      const checkpoint = standsStill(gap);
      if (checkpoint === undefined) continue;
      expect(durationMs(gap)).toBeLessThan(durationMs(checkpoint) + ordinaryMs);
    }
    await session.remove({ force: true });
  });

  test("prints every number once, as an attached terminal sees it", async () => {
    const session = await own.waypoint.new();
    const terminal = await TestTerminal.attach(session);
    const seen = () => [...terminal.raw().matchAll(/n=(\d+)\./g)].map((match) => Number(match[1]));
    await terminal.type(`${COUNTER}\r`);
    await terminal.waitFor(/^n=1\.$/);

    await takeCheckpoints(session, () => seen().length);
    await session.exec("touch /root/stop", { shell: "own" });
    const [, last] = await terminal.waitFor(/^last=(\d+)\./);

    expect(seen()).toEqual(upTo(Number(last)));
    await terminal[Symbol.asyncDispose]();
    await session.remove({ force: true });
  });

  test.each(["live", "own"] as const)(
    "prints every number once, as exec sees it in a shell that is %s",
    async (shell) => {
      const session = await own.waypoint.new();
      let output = "";
      const onStdout = (bytes: Uint8Array) => {
        output += Buffer.from(bytes).toString("latin1");
      };
      const finished = session.exec(COUNTER, { shell, onStdout });
      const seen = () => [...output.matchAll(/n=(\d+)\./g)].map((match) => Number(match[1]));
      await eventually("a first number", seen, (numbers) => numbers.length > 0);

      await takeCheckpoints(session, () => seen().length);
      await session.exec("touch /root/stop", { shell: "own" });
      const { exitCode } = await finished;

      expect(exitCode).toBe(0);
      const [, last] = /last=(\d+)\.\n$/.exec(output) ?? [];
      expect(seen()).toEqual(upTo(Number(last)));
      await session.remove({ force: true });
    },
  );

  test("may start and end other programs all the time", async () => {
    const session = await own.waypoint.new();
    await session.exec("(while :; do x=$(bash -c 'echo y | cat' 2>/dev/null </dev/null); done) &");
    await session.exec("(while :; do true & echo x | cat >> /root/lines; done) &");

    let last = await session.checkpoint();
    for (let number = 1; number < CHURNED_CHECKPOINTS; number += 1) {
      last = await session.checkpoint();
    }

    const [fork] = await last.fork();
    if (fork === undefined) throw new Error("no fork");
    const { stdout } = await fork.exec("jobs -r | grep -c while; kill %1 %2");
    expect(stdout).toBe("2\n");
    await session.remove({ force: true });
    await fork.remove({ force: true });
  });
});
