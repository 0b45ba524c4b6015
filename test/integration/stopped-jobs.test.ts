import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const END_OF_INPUT = "\u0004";
const STOPPED_BY_INPUT = 21;

/** Waits for a child of several threads that reads the terminal in the background. */
const WATCHER = `
import os, threading, time
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    threading.Thread(target=time.sleep, args=[1000], daemon=True).start()
    os.read(0, 1)
def note(status):
    with open("/srv/seen", "a") as seen: seen.write(f"{os.WSTOPSIG(status)}\\n")
while True: note(os.waitpid(child, os.WUNTRACED)[1])
`;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Returns the states of the processes of these commands. */
async function statesOf(session: Session, command: string): Promise<string> {
  const list = ["sh", "-c", `ps -eo stat=,args= | grep '${command}' | grep -v grep | cut -c1`];
  return (await session.exec(list, { shell: "own" })).stdout.trim();
}

async function untilStopped(session: Session, command: string): Promise<void> {
  const read = () => statesOf(session, command);
  await eventually(`${command} to be stopped`, read, (states) => states.endsWith("T"));
}

/** Does with the jobs what a person does: lists them, brings them back, goes on with them. */
async function expectJobs(session: Session): Promise<void> {
  await using terminal = await TestTerminal.attach(session);
  await terminal.type("clear; jobs\r");
  await terminal.waitFor(/^\[1\].*Stopped +cat$/);
  await terminal.waitFor(/^\[2\].*Stopped +\( echo written \)$/);
  await terminal.type("stty -tostop; fg 2\r");
  await terminal.waitFor(/^written$/);
  await terminal.type("clear; fg 1\r");
  await terminal.waitFor(/^cat$/);
  await terminal.type("line\r");
  await eventually(
    "the line twice",
    () => terminal.screen().filter((line) => line.trim() === "line").length,
    (count) => count === 2,
  );
  await terminal.type(END_OF_INPUT);
  await terminal.type("jobs; echo no''ne left\r");
  await terminal.waitFor(/^none left$/);
}

test("jobs that the terminal has stopped are stopped in a fork, and the shell goes on with them", async () => {
  const session = await own.waypoint.new();
  {
    await using terminal = await TestTerminal.attach(session);
    await terminal.type("cat &\r");
    await untilStopped(session, "^T *cat");
    await terminal.type("stty tostop; (echo written) &\r");
    await untilStopped(session, "rcfile");
  }
  const checkpoint = await session.checkpoint();
  const [fork] = await checkpoint.fork();
  const [second] = (await (await fork?.checkpoint())?.fork()) ?? [];

  for (const each of [session, fork, second]) {
    expect(await statesOf(each as Session, "^T *cat")).toBe("T");
    await expectJobs(each as Session);
  }
});

test("whoever waits for a stopped process sees the signal that has stopped it, after a restore too", async () => {
  const session = await own.waypoint.new();
  await session.exec(["sh", "-c", "cat > /srv/watch.py"], { shell: "own", input: WATCHER });
  await using terminal = await TestTerminal.attach(session);
  await terminal.type("python3 /srv/watch.py\r");
  const seen = async (of: Session) =>
    (await of.exec("cat /srv/seen", { shell: "own" })).stdout.trim().split("\n").map(Number);
  await eventually(
    "the first stop",
    () => seen(session),
    (signals) => signals.includes(STOPPED_BY_INPUT),
  );

  const [fork] = await (await session.checkpoint()).fork();

  // CRIU stops it anew, which its parent is told; nobody is told anything in the original.
  const signals = await eventually(
    "a stop in the fork",
    () => seen(fork as Session),
    (all) => all.length === 2,
  );
  expect(signals).toEqual([STOPPED_BY_INPUT, STOPPED_BY_INPUT]);
  expect(await seen(session)).toEqual([STOPPED_BY_INPUT]);
});
