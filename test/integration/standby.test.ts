import { existsSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { expectedHoldings, holdingsOf, stayInside } from "../support/holdings.ts";
import { standbysOf, startedAtSeconds, untilReady, uptimeSeconds } from "../support/standby.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const KINDS = ["mounts", "networks", "inits", "instances"] as const;

let own: TestWaypoint;
let session: Session;
let checkpoint: Checkpoint;

beforeAll(async () => {
  own = await openTestWaypoint({ standby: { policy: "head" } });
  session = await own.waypoint.new({ name: "web" });
  await session.exec("sleep 100000 & sleep 200000 & kill -STOP %2; COUNT=1");
  await session.exec("trap 'echo child >>/root/noticed' CHLD");
  checkpoint = await session.checkpoint({ name: "one" });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** What a test that failed has left must not make the next ones fail, nor its own second try. */
beforeEach(async () => {
  const others = (await own.waypoint.sessions()).filter(({ id }) => id !== session.id);
  for (const { id } of others) {
    await (await own.waypoint.session(id)).remove({ force: true });
  }
});

/** Returns what `act` returned if the processes of the session were there before it was called. */
async function restoreFromStandby<T>(of: () => Session, act: () => Promise<T>): Promise<T> {
  const calledAt = uptimeSeconds();
  const result = await act();
  expect(await startedAtSeconds(of())).toBeLessThan(calledAt);
  return result;
}

/** Puts the session where it can be restored at once. */
async function standReady(): Promise<void> {
  if ((await session.info()).head !== checkpoint.id) await session.restore(checkpoint);
  await untilReady(session, checkpoint);
}

/** Returns the bytes that a session's terminal has printed so far. */
async function screenOf(of: Session): Promise<string> {
  const stream = await of.attach({ columns: 120, rows: 40 });
  for await (const event of stream) {
    if (event.kind !== "stdout") continue;
    stream.control({ control: "detach" });
    // Each has its own name in its prompt.
    return Buffer.from(event.bytes).toString("utf8").replaceAll(of.name, "fork");
  }
  return "";
}

async function count(of: Session): Promise<string> {
  return (await of.exec("echo $COUNT")).stdout.trim();
}

describe("a standby", () => {
  test("is what a restore makes the session, and there is another one after it", async () => {
    await standReady();
    await session.exec("COUNT=2");

    const { undo, undoContent } = await restoreFromStandby(
      () => session,
      () => session.restore(checkpoint),
    );

    expect(await count(session)).toBe("1");
    expect(undoContent).toBe("full");
    await untilReady(session, checkpoint);
    await untilReady(session, undo ?? "");
  });

  test("is what an undo goes back to: the very processes that the restore left", async () => {
    await standReady();
    const before = await session.info();
    const { undo } = await session.restore(checkpoint);
    await untilReady(session, undo ?? "");

    const undone = await session.undo();

    expect((await session.info()).pid).toBe(before.pid);
    expect(undone.checkpoint).toBe(undo);
    await session.undo();
    expect(await count(session)).toBe("1");
  });

  test("is what a fork is made of, under the fork's own name", async () => {
    await standReady();

    const [fork] = await restoreFromStandby(
      () => made[0] as Session,
      async () => {
        made = await checkpoint.fork(1, { name: "side" });
        return made;
      },
    );

    expect((await fork?.info())?.name).toBe("side");
    expect(await count(fork as Session)).toBe("1");
    expect((await session.info()).state).toBe("running");
    await fork?.remove({ force: true });
  });
  let made: Session[] = [];

  test("has run no instruction: jobs, screen and signals are those of a fork made late", async () => {
    await standReady();

    const [early, late] = (await checkpoint.fork(2)) as Session[] as [Session, Session];

    const look = "jobs; cat /root/noticed 2>/dev/null";
    const { stdout: jobs } = await early.exec(look);
    expect(jobs).toMatch(/^\[1\].*Running +sleep 100000 &\n\[2\].*Stopped +sleep 200000\n/);
    expect((await late.exec(look)).stdout).toBe(jobs);
    // The prompt after the command comes a moment after its answer.
    await eventually(
      "both to look alike",
      async () => [await screenOf(early), await screenOf(late)],
      ([one, other]) => one === other,
    );
    await Promise.all([early, late].map((fork) => fork.remove({ force: true })));
  });

  test("is seen neither in ls, in ps nor in the timeline, but by the daemon's status", async () => {
    await standReady();

    const { sessions, operations } = await own.waypoint.log();

    expect(sessions.map(({ name }) => name)).toEqual(["web"]);
    expect(operations.every(({ session: of }) => of === session.id)).toBe(true);
    expect((await session.ps()).filter(({ pid }) => pid === 1)).toHaveLength(1);
    expect((await standbysOf(own)).count).toBeGreaterThan(0);
    const { stdout } = await runCommand(own.stateDir, ["daemon", "status"]);
    expect(stdout).toMatch(/^Standby: +\d ready, .* of .* \(policy head\)$/m);
  });

  test("serves one of eight forks; the others are made, and all answer", async () => {
    await standReady();
    const calledAt = uptimeSeconds();

    const forks = await checkpoint.fork(8);

    expect(await Promise.all(forks.map(count))).toEqual(Array(8).fill("1"));
    const started = await Promise.all(forks.map(startedAtSeconds));
    expect(started.filter((at) => at < calledAt)).toHaveLength(1);
    await Promise.all(forks.map((fork) => fork.remove({ force: true })));
  });

  test("does not change what another one writes, or the checkpoint", async () => {
    await standReady();
    await session.restore(checkpoint);
    await session.exec("echo mine >/root/file; COUNT=7");
    await standReady();

    const [fork] = await checkpoint.fork(1);

    expect((await fork?.exec("cat /root/file; echo $COUNT"))?.stdout).toBe("1\n");
    await fork?.remove({ force: true });
  });
});

describe("the policy of a session", () => {
  test("is chosen when it starts and at any time, and by its forks taken over", async () => {
    const quiet = await own.waypoint.new({ standby: "off" });
    const first = await quiet.checkpoint();
    const [fork] = await first.fork(1);

    expect(await quiet.standby()).toMatchObject({ policy: "off", isDefault: false, ready: [] });
    expect((await fork?.standby())?.policy).toBe("off");
    const second = await quiet.checkpoint();
    await quiet.standby("2");

    await untilReady(quiet, first);
    await untilReady(quiet, second);
    await fork?.remove({ force: true });
    await quiet.remove({ force: true });
  });

  test("is shown and chosen on the command line", async () => {
    const shown = await runCommand(own.stateDir, ["standby", "web"]);
    expect(shown.stdout).toMatch(/^Policy: head \(the daemon's default\)$/m);

    const chosen = await runCommand(own.stateDir, ["standby", "web", "2", "--json"]);
    expect(JSON.parse(chosen.stdout)).toMatchObject({ policy: "2", isDefault: false });
    const refused = await runCommand(own.stateDir, ["standby", "web", "many"]);
    expect(refused.exitCode).toBe(2);
    await session.standby("head");
  });
});

describe("the daemon's death", () => {
  test("ends the standbys, and the next daemon makes them anew", async () => {
    await standReady();
    const { pid } = await session.info();
    const parked = holdingsOf(own.stateDir, await own.daemonPid()).inits;
    await killDaemon(await own.daemonPid());

    expect((await session.info()).pid).toBe(pid);

    await standReady();
    const { inits } = holdingsOf(own.stateDir, await own.daemonPid());
    const again = inits.filter((id) => parked.includes(id));
    expect(again).toHaveLength(1);
  });

  test("right after a restore leaves what undo goes back to", async () => {
    await standReady();
    await session.exec("COUNT=left");
    const { undo } = await session.restore(checkpoint);
    await killDaemon(await own.daemonPid());

    expect(await count(session)).toBe("1");
    const { checkpoint: back } = await session.undo();

    expect(back).toBe(undo);
    expect(await count(session)).toBe("left");
    expect((await session.exec("jobs")).stdout).toMatch(/Running +sleep 100000/);
  });
});

describe("nothing is left", () => {
  /** Waits until nothing runs but the sessions that the catalog knows. */
  async function untilOnlySessions(): Promise<void> {
    const pid = await own.daemonPid();
    await eventually(
      "nothing but sessions",
      () => [holdingsOf(own.stateDir, pid), expectedHoldings(own.stateDir)] as const,
      ([found, expected]) =>
        KINDS.every((kind) => JSON.stringify(found[kind]) === JSON.stringify(expected[kind])),
    );
  }

  test("of a session's standbys when it is stopped or removed, or wants none", async () => {
    await session.standby("off");
    await untilOnlySessions();
    const other = await own.waypoint.new();
    const point = await other.checkpoint();
    await untilReady(other, point);
    const { undo } = await other.restore(point);
    await untilReady(other, point);
    await untilReady(other, undo ?? "");

    await other.stop();

    await untilOnlySessions();
    await other.remove();
    await untilOnlySessions();
    await session.standby("head");
  });

  test("of any standby when the daemon ends", async () => {
    await standReady();
    const pid = await own.daemonPid();
    using inside = await stayInside(own.stateDir);
    expect(holdingsOf(own.stateDir, inside.pid).inits.length).toBeGreaterThan(1);

    const stopped = await runCommand(own.stateDir, ["daemon", "stop"]);

    expect(stopped.exitCode).toBe(0);
    await eventually(
      "the end of the daemon",
      () => existsSync(`/proc/${pid}`),
      (isThere) => !isThere,
    );
    // Looked at before anybody asks: the next daemon clears away what one has left.
    const found = holdingsOf(own.stateDir, inside.pid);
    const expected = expectedHoldings(own.stateDir);
    for (const kind of KINDS) expect(found[kind], kind).toEqual(expected[kind]);
    expect(expected.inits).toHaveLength(1);
    expect(await count(session)).not.toBe("");
  });
});
