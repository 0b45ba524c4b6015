import { readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasCode, type Session } from "../../src/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const KILLS = 8;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

async function recall(session: Session): Promise<string> {
  return (await session.exec("echo $word")).stdout.trim();
}

describe("a session that removes what it runs on", () => {
  test.each([
    ["its live shell", "live"],
    ["a process of its own", "own"],
  ] as const)("is still reached, restored and undone (by %s)", async (_name, shell) => {
    const session = await own.waypoint.new();
    await session.exec("word=before");
    const checkpoint = await session.checkpoint();
    await session.exec("word=after");

    await session.exec("rm -rf /run/* /dev/* /usr/bin", { shell });
    expect(await recall(session)).toBe("after");
    const destroyed = await session.checkpoint();

    await session.restore(checkpoint);
    expect(await recall(session)).toBe("before");
    expect((await session.exec("ls /run/waypoint; env true")).exitCode).toBe(0);
    await session.undo();
    expect((await session.exec("type env")).exitCode).not.toBe(0);
    expect(await recall(session)).toBe("after");
    const [fork] = await destroyed.fork();
    expect(await recall(fork as Session)).toBe("after");
    await session.remove({ force: true });
    await (fork as Session).remove({ force: true });
  });
});

test("a session whose first process is killed during a checkpoint ends, and holds up nobody", async () => {
  for (let kills = 0; kills < KILLS; ) {
    const session = await own.waypoint.new();
    const { pid } = await session.info();
    if (pid === null) throw new Error("not running");
    let isDone = false;
    const checkpoint = session
      .checkpoint()
      .then(
        () => "taken",
        (error: unknown) => (hasCode(error, "SESSION_ENDED") ? "ended" : error),
      )
      .finally(() => {
        isDone = true;
      });
    while (!isDone && !isTraced(pid)) await nextTurn();
    // Other work of the machine may keep us from looking in the milliseconds that it takes.
    if (!isDone) kills += 1;
    process.kill(pid, "SIGKILL");

    expect(["taken", "ended"]).toContain(await checkpoint);
    await eventually(
      "the end of a session",
      async () => (await session.info()).state,
      (state) => state === "ended",
    );
    await session.remove();
  }
});

/** Tells whether CRIU has got hold of a process. */
function isTraced(pid: number): boolean {
  return !/^TracerPid:\s+0$/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}
