import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { untilReady } from "../support/standby.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const GENERATIONS = 3;
const STOP_KEY = "\u001a";
const INTERRUPT_KEY = "\u0003";
const OPENS_TERMINAL_LATER = `python3 -c '
import os, time
while not os.path.exists("go"): time.sleep(0.02)
print(open("/dev/tty").isatty())' > opened`;

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint({ standby: { policy: "head" } });
});

beforeEach(async () => {
  for (const { id } of await own.waypoint.sessions()) {
    await (await own.waypoint.session(id)).remove({ force: true });
  }
  session = await own.waypoint.new();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Starts a shell in the session's shell, as `su` and `sudo -i` do. */
async function openNested(): Promise<void> {
  await using terminal = await TestTerminal.attach(session);
  await terminal.type("PS1='inner> ' bash --norc\r");
  await terminal.waitFor(/^inner> $/);
}

/** Opens shells in the shells of other programs' terminals, and shows the last one. */
async function openNestedIn(command: string, windows: number): Promise<void> {
  await using terminal = await TestTerminal.attach(session);
  for (let window = 0; window < windows; window += 1) {
    await terminal.type(`${window === 0 ? command : "tmux new-window 'bash --norc'"}\r`);
    await terminal.waitFor(/^bash-.*# $/);
    await terminal.type(`clear; PS1='inner${window}> ' bash --norc\r`);
    await terminal.waitFor(new RegExp(`^inner${window}> $`));
  }
}

async function fork(checkpoint: Checkpoint): Promise<Session> {
  const [made] = await checkpoint.fork();
  if (made === undefined) throw new Error("no fork");
  return made;
}

async function runs(where: Session, command: string, isRunning: boolean): Promise<void> {
  const commands = async () => (await where.ps()).map((each) => each.command);
  const what = `${command} to ${isRunning ? "run" : "end"}`;
  await eventually(what, commands, (all) => all.includes(command) === isRunning);
}

/** Does what a person does with a shell: stops a program, interrupts one, opens the terminal. */
async function expectJobControl(where: Session): Promise<void> {
  await using terminal = await TestTerminal.attach(where);
  await terminal.type("sleep 1001\r");
  await runs(where, "sleep 1001", true);
  await terminal.type(STOP_KEY);
  await terminal.waitFor(/Stopped +sleep 1001/);

  await terminal.type("sleep 1002\r");
  await runs(where, "sleep 1002", true);
  await terminal.type(INTERRUPT_KEY);
  await runs(where, "sleep 1002", false);

  await terminal.type("kill %1; : < /dev/tty && echo op''ened\r");
  await terminal.waitFor(/^opened$/);
  await runs(where, "sleep 1001", false);
}

/** Nothing of what brought the terminal back is left open. */
async function expectOneHolder(where: Session): Promise<void> {
  const holders = await where.exec(
    "find /proc/[0-9]*/fd -lname '*ptmx' 2>/dev/null | cut -d/ -f3",
    {
      shell: "own",
    },
  );
  const counts = await where.exec("ls /proc/2/fd | sort -n | tail -n 1", { shell: "own" });
  expect([holders.stdout, counts.stdout]).toEqual(["1\n", "255\n"]);
}

test.each([
  ["made anew", "off"],
  ["that stood by", "head"],
])("a shell in the shell has its jobs and keys in a fork %s", async (_what, policy) => {
  await openNested();
  await session.standby(policy);
  const checkpoint = await session.checkpoint();
  if (policy !== "off") await untilReady(session, checkpoint);

  const made = await fork(checkpoint);

  await expectOneHolder(made);
  for (const each of [made, session]) await expectJobControl(each);
});

test("also restored, and after generations", async () => {
  await openNested();
  let last = session;
  for (let generation = 0; generation < GENERATIONS; generation += 1) {
    last = await fork(await last.checkpoint());
  }
  const checkpoint = await last.checkpoint();

  await last.restore(checkpoint);

  await expectOneHolder(last);
  await expectJobControl(last);
});

test("a program that runs in a shell can open the terminal in a fork, too", async () => {
  const running = session.exec(OPENS_TERMINAL_LATER);
  running.catch(() => {});
  await eventually(
    "the program to run",
    () => session.ps(),
    (all) => all.some(({ command }) => command.includes("python3 -c")),
  );

  const made = await fork(await session.checkpoint());
  for (const each of [made, session]) await each.exec("touch go", { shell: "own" });

  expect((await running).exitCode).toBe(0);
  for (const each of [made, session]) expect((await each.exec("cat opened")).stdout).toBe("True\n");
});

test.each([
  { what: "script", command: "script -q -c 'bash --norc' /dev/null", windows: 1 },
  { what: "tmux", command: "tmux -L own -f /dev/null new 'bash --norc'", windows: 3 },
])("a shell in a shell of $what has its jobs and keys in forks and restored", async (sample) => {
  await openNestedIn(sample.command, sample.windows);
  const checkpoint = await session.checkpoint();

  const made = await fork(await (await fork(checkpoint)).checkpoint());
  await session.restore(checkpoint);

  for (const each of [made, session]) {
    for (let window = sample.windows - 1; window >= 0; window -= 1) {
      await expectJobControl(each);
      if (window > 0) await each.exec("tmux -L own previous-window", { shell: "own" });
    }
  }
});
