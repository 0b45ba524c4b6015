import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { automaticOf, untilAutomatic, untilIdle } from "../support/automatic.ts";
import { runCommand, WAYPOINT_COMMAND } from "../support/command-line.ts";
import { expectedHoldings, holdingsOf } from "../support/holdings.ts";
import { killDaemonInDump } from "../support/running-dump.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { Tmux } from "../support/tmux.ts";

const PLAIN_SHELL = { env: { HOME: "/nonexistent" } };

/** A process that CRIU refuses: another one traces it. */
const TRACED = `python3 -c "import ctypes, os, time
child = os.fork()
if child == 0: time.sleep(1000)
ctypes.CDLL(None).ptrace(0x4206, child, 0, 0)
open('/srv/traced', 'w').close()
time.sleep(1000)" & until test -e /srv/traced; do sleep 0.05; done`;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

describe("what CRIU refuses", () => {
  test("is told, tried again later and not at each command, and never ends the session", async () => {
    const session = await own.waypoint.new({ ...PLAIN_SHELL, auto: "hybrid" });
    await session.exec(TRACED);
    const { failure } = await eventually(
      "a failure",
      () => session.auto(),
      (auto) => auto.failure !== null,
    );
    expect(failure?.message).toMatch(/is traced by process/);

    for (let number = 0; number < 10; number += 1) await session.exec(`touch /srv/${number}`);
    const held = await session.auto();

    expect(held).toMatchObject({ failure, isScheduled: true });
    expect(Date.parse(held.retryAt ?? "")).toBeGreaterThan(Date.now());
    const told = new RegExp(`^${session.name}: no automatic checkpoint at .* traced`, "m");
    expect((await runCommand(own.stateDir, ["ls"])).stdout).toMatch(told);
    expect((await runCommand(own.stateDir, ["log", session.name])).stdout).toMatch(/no automatic/);
    expect((await runCommand(own.stateDir, ["auto", session.name])).stdout).toMatch(/^Failed: /m);

    await session.exec("kill -9 %1; wait");
    await session.auto({ paused: false });
    const all = await untilAutomatic(session, 1);
    expect(all).toHaveLength(1);
    expect(await session.auto()).toMatchObject({ failure: null, retryAt: null });
  });
});

test("the death of the daemon in the middle of one leaves the session and a whole history", async () => {
  const session = await own.waypoint.new({ ...PLAIN_SHELL, auto: "command" });
  await session.exec("COUNT=7");
  await untilAutomatic(session, 1);
  const pid = await own.daemonPid();

  // So much memory that a dump of it takes a while.
  await session.exec(`python3 -c "import time
x = b'x' * (150 << 20)
open('/srv/one', 'w').close()
time.sleep(1000)" & until test -e /srv/one; do sleep 0.05; done`);
  await killDaemonInDump(own.stateDir, pid);

  expect((await session.exec("echo $COUNT; ls /srv/one")).stdout).toBe("7\n/srv/one\n");
  await untilIdle(session);
  for (const { id } of await automaticOf(session)) {
    const [fork] = await own.waypoint.fork(id);
    expect((await fork?.exec("echo $COUNT"))?.stdout).toBe("7\n");
    await fork?.remove({ force: true });
  }
  const { checkpoints } = holdingsOf(own.stateDir, await own.daemonPid());
  expect(checkpoints).toEqual(expectedHoldings(own.stateDir).checkpoints);
  await session.remove({ force: true });
});

describe("a restore while somebody types", () => {
  let session: Session;
  let checkpoint: string;

  beforeAll(async () => {
    session = await own.waypoint.new({ ...PLAIN_SHELL, name: "typed" });
    checkpoint = (await session.checkpoint()).id;
  });

  test("is not refused for a terminal that is only attached", async () => {
    await using terminal = await TestTerminal.attach(session);
    await terminal.waitFor(/\$|#/);

    await session.restore(checkpoint);

    expect((await session.info()).attached).toEqual({ count: 1, lastKeyAt: null });
  });

  test("is refused to a program, with who it is and what to do; it can be told to go on", async () => {
    await using terminal = await TestTerminal.attach(session);
    await terminal.type("echo half a li");
    await terminal.waitFor(/half a li/);

    await expect(session.restore(checkpoint)).rejects.toMatchObject({
      code: "TERMINAL_IN_USE",
      message: expect.stringMatching(
        /^Somebody is typing in typed \(attached 1, last key \d+ s ago\)/,
      ),
    });
    const undo = await runCommand(own.stateDir, ["undo", "typed"]);
    expect(undo).toMatchObject({ exitCode: 11 });
    expect(undo.stderr).toMatch(/--while-typing/);
    await terminal.waitFor(/half a li/);

    await session.restore(checkpoint, { whileTyping: true });
    expect((await session.info()).head).toBe(checkpoint);
  });

  test("is said first to a person, who may go on; typed commands are captured", async () => {
    await session.auto({ policy: "hybrid" });
    const line = `${WAYPOINT_COMMAND} --dir ${own.stateDir}`;
    await using person = await Tmux.start(`${line} attach typed`);
    await person.shows(/[$#] /);
    await person.type("touch /srv/by-a-person; echo do''ne\r");
    await person.shows(/done/);
    const all = await untilAutomatic(session, 1);
    expect(all.at(-1)?.autoCause).toBe("command");
    await person.type("echo an unfinished li");
    await person.shows(/unfinished/);

    await using other = await Tmux.start(`${line} restore typed ${checkpoint} --yes`);
    await other.shows(/Somebody is typing in typed \(attached 1, last key \d+ s\s+ago\)/);
    await other.shows(/Put it back all the same\? \[y\/N\]/);
    await other.type("y\r");
    await other.shows(/is back at/);

    expect((await session.info()).head).toBe(checkpoint);
  });

  test("is in the plan, and who says yes to that plan is asked once", async () => {
    await using terminal = await TestTerminal.attach(session);
    await terminal.type("echo half a li");
    await terminal.waitFor(/half a li/);

    const plan = await session.planRestore(checkpoint);
    const line = `${WAYPOINT_COMMAND} --dir ${own.stateDir} restore typed ${checkpoint}`;
    await using other = await Tmux.start(line, { columns: 120, rows: 40 });
    const asked = await other.shows(/\[y\/N\]/);
    await other.type("y\r");
    const done = await other.shows(/is back at/);

    expect(plan.typing).toMatchObject({ attached: 1, lastKeyAt: expect.any(String) });
    expect(asked).toMatch(/^Somebody is typing in typed \(attached 1, last key \d+ s ago\)\.$/m);
    expect(done.match(/\[y\/N\]/g)).toHaveLength(1);
  });

  test("is nothing to a plan when nobody is at work", async () => {
    expect((await session.planRestore(checkpoint)).typing).toBeNull();
  });
});

test("restores, checkpoints, copies and commands of two clients go one after the other", async () => {
  const session = await own.waypoint.new(PLAIN_SHELL);
  await session.exec("echo first > /srv/file");
  const { id } = await session.checkpoint();
  const copy = (number: number) =>
    own.waypoint.cp({ path: "/etc/hostname" }, { moment: session.id, path: `/srv/copy-${number}` });

  const rounds = Array.from({ length: 5 }, (_, number) => [
    session.restore(id),
    session.exec("cat /srv/file"),
    session.checkpoint(),
    copy(number),
  ]);
  const outcomes = await Promise.allSettled(rounds.flat());

  for (const [index, outcome] of outcomes.entries()) {
    // Only a command can be cut off, by the restore that ends what it runs in; it is told so.
    if (outcome.status === "fulfilled") continue;
    expect([index % 4, outcome.reason.code]).toEqual([1, "SESSION_ENDED"]);
  }
  const { operations, checkpoints } = await session.log();
  expect(operations.filter(({ kind }) => kind === "restore")).toHaveLength(5);
  const before = operations.flatMap(({ undo }) => (undo === null ? [] : [undo]));
  expect(new Set(before).size).toBe(5);
  expect(checkpoints.filter(({ trigger }) => trigger === "manual")).toHaveLength(6);
  expect((await session.exec("cat /srv/file")).stdout).toBe("first\n");
  const last = await session.restore(id);
  expect((await session.undo()).checkpoint).toBe(last.undo);
});
