import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { findAssemble, stopIn } from "../support/running-dump.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Enough that its images are not put together at once. */
const HOLDER = "python3 -c 'import time; held = bytearray(64 << 20); time.sleep(1e6)' &";

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  // Every program is followed, so that there is something to put together.
  process.env["WAYPOINT_TRACK_MEMORY"] = "0";
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "beside", net: "none", env: { HOME: "/nonexistent" } });
  await session.exec(HOLDER);
  await session.exec("place=before");
});

afterAll(async () => {
  delete process.env["WAYPOINT_TRACK_MEMORY"];
  await own?.[Symbol.asyncDispose]();
});

/** A checkpoint that is captured, and whose images are not complete yet. */
async function beginCheckpoint() {
  const daemon = await own.daemonPid();
  const begin = () => session.checkpoint();
  // Without a change the captures of the last one are shared.
  const change = () => session.exec("touch /srv/change");
  const { pid, outcome } = await stopIn(() => findAssemble(daemon), begin, change);
  /** Has the program that puts the images together go on, or end; returns the checkpoint. */
  const after = async (signal: "SIGCONT" | "SIGKILL"): Promise<Checkpoint> => {
    process.kill(pid, signal);
    const made = await outcome;
    if (made instanceof Error) throw made;
    return made;
  };
  /** Does something meanwhile; one that fails leaves nothing that stands still. */
  const meanwhile = async (act: () => Promise<void>) => {
    await act().catch(async (error: unknown) => {
      await after("SIGCONT");
      throw error;
    });
  };
  return { meanwhile, after };
}

test("commands and a terminal wait for the pause, and not for the images", async () => {
  await session.checkpoint();
  await using terminal = await TestTerminal.attach(session);
  const { meanwhile, after } = await beginCheckpoint();

  // Neither would come to its end while the images are not complete.
  await meanwhile(async () => {
    expect((await session.exec("place=after; echo $place")).stdout).toBe("after\n");
    await terminal.type("echo typed-$((20 + 2))\r");
    await terminal.waitFor(/^typed-22$/);
    await session.decide({ choice: "after" });
  });
  const made = await after("SIGCONT");

  // What ran meanwhile is in the next one, and told there.
  const commandsOf = async (checkpoint: Checkpoint) =>
    (await checkpoint.show()).story.commands?.map(({ command }) => command);
  const next = await session.checkpoint();
  expect(await commandsOf(made)).not.toContain("place=after; echo $place");
  expect(await commandsOf(next)).toContain("place=after; echo $place");
  expect(next.info.unchangedSince).toBe(null);
  expect((await made.show()).decisions).toEqual([]);
  expect((await next.show()).decisions).toMatchObject([{ choice: "after" }]);
  const [fork] = await made.fork();
  expect((await fork?.exec("echo $place"))?.stdout).toBe("before\n");
});

test("a checkpoint whose images cannot be completed is taken again, with what ran meanwhile", async () => {
  await session.checkpoint();
  const { meanwhile, after } = await beginCheckpoint();
  await meanwhile(async () => void (await session.exec("place=meanwhile")));
  const made = await after("SIGKILL");
  await session.exec("place=later");

  await session.restore(made);

  expect((await session.exec("echo $place")).stdout).toBe("meanwhile\n");
});
