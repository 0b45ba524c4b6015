import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { automaticOf, untilAutomatic, untilIdle } from "../support/automatic.ts";
import { runCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Without the start-up files of this machine's user, which may leave processes of their own. */
const PLAIN_SHELL = { env: { HOME: "/nonexistent" } };

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

function start(auto: string): Promise<Session> {
  return own.waypoint.new({ ...PLAIN_SHELL, auto });
}

describe("hybrid", () => {
  let session: Session;

  beforeAll(async () => {
    session = await start("hybrid");
  });

  test("captures after a command that changed a file, and not after a look around", async () => {
    await session.exec("ls /root; cat /etc/passwd; ps");
    await untilIdle(session);
    expect(await automaticOf(session)).toEqual([]);

    await session.exec("touch /srv/made");
    const [first] = await untilAutomatic(session, 1);

    expect(first).toMatchObject({ trigger: "auto", autoCause: "command", content: "full" });
    expect((await session.info()).head).toBe(first?.id);
    await session.exec("ls /srv; grep root /etc/passwd");
    await session.exec(["true"], { shell: "own" });
    await untilIdle(session);
    expect(await automaticOf(session)).toHaveLength(1);
  });

  test("captures after another directory, and after a process that was left", async () => {
    const before = (await automaticOf(session)).length;

    await session.exec("cd /tmp");
    await untilAutomatic(session, before + 1);
    await session.exec("sleep 100000 &");
    await untilAutomatic(session, before + 2);

    await session.exec("jobs");
    await untilIdle(session);
    expect(await automaticOf(session)).toHaveLength(before + 2);
  });

  test("captures after a variable was set in the session's shell, and only there", async () => {
    const before = (await automaticOf(session)).length;

    await session.exec("export STAGE=dev");
    const all = await untilAutomatic(session, before + 1);
    await session.exec("echo $STAGE");
    await session.exec("STAGE=other env");
    await session.exec("export STAGE=none", { shell: "own" });
    await untilIdle(session);
    expect(await automaticOf(session)).toHaveLength(before + 1);

    await session.exec("STAGE=lost");
    await session.restore(all.at(-1)?.id ?? "");
    expect((await session.exec("echo $STAGE")).stdout).toBe("dev\n");
  });

  test("takes no part in what the shell runs before its prompt", async () => {
    const slow = await start("hybrid");
    await slow.exec("PROMPT_COMMAND+=('sleep 0.6')");
    await untilAutomatic(slow, 1);
    await slow.exec("touch /srv/made");
    const ids = (await untilAutomatic(slow, 2)).map(({ id }) => id);

    await slow.exec("ls /srv");
    await untilIdle(slow);
    expect((await automaticOf(slow)).map(({ id }) => id)).toEqual(ids);
    const { changes } = await own.waypoint.show(ids.at(-1) ?? "");
    expect(changes.summary).not.toMatch(/process/);
  });

  test("captures nothing that was captured by hand", async () => {
    const before = (await automaticOf(session)).length;
    await session.auto({ paused: true });
    await session.exec("touch /srv/by-hand");
    await session.checkpoint();

    await session.auto({ paused: false });
    await session.exec("ls /srv");
    await untilIdle(session);

    expect(await automaticOf(session)).toHaveLength(before);
  });

  test("captures what a task has ended with, under its name", async () => {
    const before = (await automaticOf(session)).length;

    expect(await session.auto({ taskDone: "schema migrated" })).toMatchObject({
      isScheduled: true,
      policy: "hybrid",
    });

    const all = await untilAutomatic(session, before + 1);
    expect(all.at(-1)).toMatchObject({ autoCause: "task", intent: "schema migrated" });
    const { stdout } = await runCommand(own.stateDir, ["log", session.name]);
    expect(stdout).toMatch(/auto after \$ touch \/srv\/made/);
    expect(stdout).toMatch(/auto: schema migrated/);
  });

  test("few are made of fifty commands in a row, and the last of them is in one", async () => {
    const before = (await automaticOf(session)).length;

    for (let number = 1; number <= 50; number += 1) {
      await session.exec(`echo ${number} > /srv/number`);
    }
    const madeMeanwhile = (await automaticOf(session)).length - before;
    await untilAutomatic(session, before + 1);

    const made = (await automaticOf(session)).length - before;
    expect(made).toBeLessThan(25);
    expect(made - madeMeanwhile).toBeLessThanOrEqual(2);
    const head = (await session.info()).head ?? "";
    const { stdout } = await runCommand(own.stateDir, ["cat", `${head}:/srv/number`]);
    expect(stdout).toBe("50\n");
  });

  test("does not interrupt a long command, and captures it where it stands", async () => {
    const before = (await automaticOf(session)).length;

    const long = session.exec("echo begun; sleep 4; echo ended");
    await session.exec("touch /srv/beside", { shell: "own" });
    await untilAutomatic(session, before + 1);

    expect(await long).toMatchObject({ stdout: "begun\nended\n", exitCode: 0 });
  });

  test("after a restore, what is captured already is no change", async () => {
    // The end of the long command before is a change of its own.
    await untilIdle(session);
    const [first] = await automaticOf(session);
    await session.restore(first?.id ?? "");
    const before = (await automaticOf(session)).length;

    await session.exec("ls /srv");
    await untilIdle(session);
    expect(await automaticOf(session)).toHaveLength(before);

    await session.exec("touch /srv/after");
    const all = await untilAutomatic(session, before + 1);
    expect(all.at(-1)?.parent).toBe(first?.id);
  });

  test("captures after what somebody types, when it has ended", async () => {
    const before = (await automaticOf(session)).length;
    await using terminal = await TestTerminal.attach(session);

    await terminal.type("ls /srv; echo loo''ked\r");
    await terminal.waitFor(/looked/);
    await untilIdle(session);
    expect(await automaticOf(session)).toHaveLength(before);

    await terminal.type("sleep 1; touch /srv/typed; echo the-e''nd\r");
    await terminal.waitFor(/the-end/);
    const all = await untilAutomatic(session, before + 1);
    expect(all.at(-1)?.autoCause).toBe("command");
  });
});

test("command captures after each command, also one that changed nothing", async () => {
  const session = await start("command");

  await session.exec("ls");
  await untilAutomatic(session, 1);
  await session.exec("true");

  expect(await untilAutomatic(session, 2)).toHaveLength(2);
});

test("edit captures files that have come to rest, whoever wrote them, and once", async () => {
  const session = await start("edit");
  await session.exec("cd /srv; (for n in $(seq 10); do sleep 0.2; echo $n > a; done) & disown");

  const all = await untilAutomatic(session, 1);

  expect(all).toHaveLength(1);
  expect(all[0]?.autoCause).toBe("edit");
  const { stdout } = await runCommand(own.stateDir, ["cat", `${all[0]?.id}:/srv/a`]);
  expect(stdout).toBe("10\n");
  await session.exec("ls /srv");
  await untilIdle(session);
  expect(await automaticOf(session)).toHaveLength(1);
});

test("every captures in its time if something has run, and nothing while nobody does", async () => {
  const session = await start("every=1s");
  await session.exec("X=$(seq 5000000 | tail -1)");
  await untilAutomatic(session, 1);

  // One more may be taken of what the capture itself stirred up.
  await eventually(
    "rest",
    async () => {
      const before = await automaticOf(session);
      await new Promise((resolve) => setTimeout(resolve, 3_500));
      return (await automaticOf(session)).length - before.length;
    },
    (made) => made === 0,
    20_000,
  );
  const before = (await automaticOf(session)).length;
  await session.exec("Y=$(seq 5000000 | tail -1)");

  const all = await untilAutomatic(session, before + 1);
  expect(all.at(-1)?.autoCause).toBe("every");
});

test("nothing is captured where nobody asked for it, where it is off, or paused", async () => {
  const plain = await own.waypoint.new(PLAIN_SHELL);
  const off = await start("off");
  const paused = await start("hybrid,edit");
  await paused.auto({ paused: true });

  for (const session of [plain, off, paused]) await session.exec("touch /srv/made");
  for (const session of [plain, off, paused]) await session.auto({ taskDone: "done" });
  await new Promise((resolve) => setTimeout(resolve, 4_000));

  for (const session of [plain, off, paused]) expect(await automaticOf(session)).toEqual([]);
  expect(await plain.auto()).toMatchObject({ policy: "manual", isDefault: true });
  expect((await paused.info()).auto.pausedSince).not.toBeNull();
  await paused.auto({ paused: false });
  await paused.exec("touch /srv/more");
  await untilAutomatic(paused, 1);
});

test("a fork has the policy of its session, and its own checkpoints", async () => {
  const session = await start("hybrid");
  const checkpoint = await session.checkpoint();
  const [fork] = await checkpoint.fork();

  await fork?.exec("touch /srv/in-fork");

  expect(await untilAutomatic(fork as Session, 1)).toHaveLength(1);
  expect(await automaticOf(session)).toEqual([]);
});

test("policy and pause outlive the daemon; what it missed is not made up", async () => {
  const paused = await start("hybrid,every=1h");
  await paused.auto({ paused: true });
  const session = await start("hybrid");
  await session.exec("touch /srv/before");
  await untilAutomatic(session, 1);

  await session.exec("touch /srv/missed");
  await killDaemon(await own.daemonPid());
  await untilIdle(session);

  const made = await automaticOf(session);
  expect(made.length).toBeLessThanOrEqual(2);
  expect(await session.auto()).toMatchObject({ policy: "hybrid", isDefault: false });
  expect(await paused.auto()).toMatchObject({ policy: "hybrid,every=1h" });
  expect((await paused.auto()).pausedSince).not.toBeNull();
  await session.exec("touch /srv/next");
  const all = await untilAutomatic(session, made.length + 1);
  const { stdout } = await runCommand(own.stateDir, ["cat", `${all.at(-1)?.id}:/srv/missed`]);
  expect(stdout).toBe("");
});

test("what is no policy is refused, in words that help", async () => {
  const wrong = await runCommand(own.stateDir, ["new", "x", "--auto=sometimes"]);
  expect(wrong.exitCode).toBe(2);
  expect(wrong.stderr).toMatch(/Give manual or off, or one or several of hybrid, command/);
  const chosen = await runCommand(own.stateDir, ["auto", "x", "sometimes"]);
  expect(chosen.stderr).toContain("with commas between them; or pause, or resume.");
  await expect(start("sometimes")).rejects.toMatchObject({ code: "USAGE_INVALID" });
});

test("the command line chooses, pauses and shows", async () => {
  await runCommand(own.stateDir, ["new", "shown", "--auto"]);
  const auto = async (...words: string[]) =>
    (await runCommand(own.stateDir, ["auto", "shown", ...words])).stdout;

  expect(await auto()).toMatch(/^Policy: +hybrid$/m);
  expect(await auto("hybrid,every=10m")).toMatch(/^Policy: +hybrid,every=10m$/m);
  expect(await auto("pause")).toMatch(/^Paused: +since /m);
  expect((await runCommand(own.stateDir, ["ls"])).stdout).toMatch(
    /^shown: automatic checkpoints are paused since /m,
  );
  expect(await auto("--task-done", "x")).toMatch(/^Task: +not captured: it is paused$/m);
  expect(await auto("resume")).not.toMatch(/Paused/);
});
