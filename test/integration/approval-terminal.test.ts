import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { ApprovalInfo, Session } from "../../src/index.ts";
import { WAYPOINT_COMMAND } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { Tmux } from "../support/tmux.ts";

const PREFIX = "\u001d";
const ASKED = /^Approve deploy /;
const POLICY = '{"defaults": false, "commands": [["deploy"]]}';

let own: TestWaypoint;
let session: Session;
let scratch: string;
const terminals: Tmux[] = [];

beforeAll(async () => {
  own = await openTestWaypoint();
  scratch = mkdtempSync(path.join(os.tmpdir(), "waypoint-approving-"));
  session = await own.waypoint.new({ approve: POLICY });
  await session.exec(
    "printf '#!/bin/sh\\necho deployed $1 | tee -a /root/done\\n' > /usr/bin/deploy",
  );
  await session.exec("chmod +x /usr/bin/deploy; touch /root/done; PS1='ready> '");
});

afterEach(async () => {
  for (const terminal of terminals.splice(0)) await terminal[Symbol.asyncDispose]();
});

afterAll(async () => {
  if (scratch !== undefined) rmSync(scratch, { recursive: true });
  await own?.[Symbol.asyncDispose]();
});

/** A person types `waypoint …` at a shell of the machine. */
async function type(words: string): Promise<Tmux> {
  const line = `${WAYPOINT_COMMAND} --dir ${own.stateDir} ${words}; echo left=$?; cat`;
  const terminal = await Tmux.start(line);
  terminals.push(terminal);
  return terminal;
}

async function attach(): Promise<Tmux> {
  const terminal = await type(`attach ${session.name}`);
  await terminal.shows(/ready> *$/m);
  return terminal;
}

async function done(what: string): Promise<number> {
  const { stdout } = await session.exec(`grep -c 'deployed ${what}$' /root/done; true`);
  return Number(stdout);
}

async function untilWaitedFor(command: string): Promise<ApprovalInfo> {
  const isIt = (each: ApprovalInfo) => each.command === command && each.isWaitedFor;
  const all = await eventually(
    `${command} waits`,
    () => own.waypoint.approvals.list(),
    (list) => list.some(isIt),
  );
  return all.find(isIt) as ApprovalInfo;
}

/** Presses a key until the screen shows this: keys that arrive as one read are a paste, no answer. */
async function press(terminal: Tmux, key: string, shown: RegExp): Promise<string> {
  return await eventually(
    `${key} leads to ${shown}`,
    async () => {
      await terminal.type(key);
      await delay(100);
      return await terminal.screen();
    },
    (screen) => shown.test(screen),
  );
}

const stateOf = async (id: string) =>
  (await own.waypoint.approvals.list()).find((each) => each.id === id);

test("an attached person sees what waits, types on, and answers it by a chord", async () => {
  const terminal = await attach();
  const held = session.exec("deploy attached");
  const { id } = await untilWaitedFor("deploy attached");
  const asked = await terminal.shows(ASKED);
  expect(asked.split("\n")[0]).toMatch(
    /deploy attached — asked by root.* 1[45]:\d\d left\. Ctrl-\] y approves, Ctrl-\] n denies/,
  );

  await terminal.type("echo y");
  await terminal.shows(/^ready> echo y$/m);
  expect(await stateOf(id)).toMatchObject({ state: "waiting" });
  await terminal.type(`${PREFIX}y`);

  expect((await held).exitCode).toBe(0);
  expect(await stateOf(id)).toMatchObject({ answeredBy: { user: "root", surface: "terminal" } });
  const after = await eventually(
    "the line is gone",
    () => terminal.screen(),
    (screen) => !screen.includes("Approve deploy"),
  );
  expect(after).toMatch(/ready> echo y$/m);
  await terminal.type("\r");
  await terminal.shows(/^y$/m);
  expect(await done("attached")).toBe(1);
});

test("a program that owns the screen has it back whole, and none of the keys", async () => {
  const lines = Array.from({ length: 60 }, (_, at) => `row-${at + 1}-of-the-file`);
  await session.exec(`printf '%s\\n' ${lines.join(" ")} > /root/rows`);
  const terminal = await attach();
  await terminal.type("vim --clean /root/rows\r");
  await terminal.shows(/^row-1-of-the-file$/m);
  const before = (await terminal.screen()).split("\n").slice(0, -3);
  const held = session.exec("deploy vim", { shell: "own" });
  const isDenied = expect(held).rejects.toMatchObject({ code: "APPROVAL_DENIED" });
  await terminal.shows(ASKED);
  await terminal.type(`${PREFIX}n`);
  await isDenied;

  const shown = await eventually(
    "vim's screen as it was",
    async () => (await terminal.screen()).split("\n").slice(0, -3),
    (screen) => screen.join() === before.join(),
  );
  expect(shown).toContain("row-1-of-the-file");
  await terminal.type(":q!\r");
  await terminal.shows(/ready> *$/m);
});

test("with nothing that waits the chord's keys are the program's", async () => {
  const terminal = await attach();
  // Before that the shell's line editor has the terminal.
  await terminal.type("clear; echo on; cat -v\r");
  await terminal.shows(/^on$/m);
  await terminal.type(`a${PREFIX}yb\r`);
  await terminal.shows(/^a\^\]yb$/m);
  await terminal.type("\u0003");
});

test("of two who are attached one answers, and both see that it is over", async () => {
  const [one, other] = [await attach(), await attach()];
  const held = session.exec("deploy two", { shell: "own" });
  const settled = Promise.allSettled([held]);
  const { id } = await untilWaitedFor("deploy two");
  await Promise.all([one.shows(ASKED), other.shows(ASKED)]);
  await Promise.all([one.type(`${PREFIX}y`), other.type(`${PREFIX}n`)]);

  const [end] = await settled;
  const { state } = (await stateOf(id)) ?? {};
  expect(state).toBe(end?.status === "fulfilled" ? "used" : "denied");
  for (const terminal of [one, other]) {
    await eventually(
      "nothing is asked",
      () => terminal.screen(),
      (screen) => !ASKED.test(screen) && !screen.includes("Too late"),
    );
  }
});

test("who waits at a terminal of their own is asked there; n denies", async () => {
  const terminal = await type(`exec ${session.name} -- deploy mine`);
  await terminal.shows(/^Approve deploy mine — .* left\. \[y\/N\]/m);
  await terminal.type("x\u001b[A");
  expect(await untilWaitedFor("deploy mine")).toMatchObject({ state: "waiting" });
  const screen = await press(terminal, "y", /left=0/);
  expect(screen).toContain("deployed mine");
  expect(screen).toContain("approved: deploy by root");
  expect(screen).not.toContain("[y/N]");

  const denied = await type(`exec ${session.name} -- deploy not-mine`);
  await denied.shows(/\[y\/N\]/);
  await denied.type("n");
  await denied.shows(/left=125/);
  expect(await done("not-mine")).toBe(0);
});

test("what was typed before the question answers nothing", async () => {
  const terminal = await Tmux.start("bash --norc");
  terminals.push(terminal);
  const command = `${WAYPOINT_COMMAND} --dir ${own.stateDir} exec ${session.name} -- deploy ahead`;
  await terminal.shows(/[$#] *$/m);
  await terminal.type(`${command}\ry`);
  await terminal.shows(/\[y\/N\]/);
  const { id } = await untilWaitedFor("deploy ahead");
  expect(await stateOf(id)).toMatchObject({ state: "waiting" });
  await terminal.type("\u0003");
  await terminal.shows(/waits for approval as/);
  await own.waypoint.approvals.deny(id);
});

test("answered elsewhere, the question goes and the command goes on", async () => {
  const terminal = await type(`exec ${session.name} -- deploy elsewhere`);
  await terminal.shows(/\[y\/N\]/);
  await own.waypoint.approvals.approve((await untilWaitedFor("deploy elsewhere")).id);
  expect(await terminal.shows(/left=0/)).not.toContain("[y/N]");
});

test("a command with a terminal of its own is asked for before anything is shown", async () => {
  const terminal = await type(`exec -t --shell own ${session.name} -- deploy own-terminal`);
  await terminal.shows(/\[y\/N\]/);
  await terminal.type("y");
  const screen = await terminal.shows(/left=0/);
  expect(screen).toContain("deployed own-terminal");
});

test("run asks before it types, also when the daemon was killed while it waits", async () => {
  const policy = path.join(scratch, "policy.json");
  writeFileSync(policy, '{"defaults": false, "commands": [["touch"]], "timeoutSeconds": 120}');
  const terminal = await type(`run --approve ${policy} -- touch /root/ran-once`);
  await terminal.shows(/Approve touch .*\[y\/N\]/);
  await killDaemon(await own.daemonPid());
  await terminal.shows(/connecting again/);
  await untilWaitedFor("touch /root/ran-once");
  await press(terminal, "y", /left=0/);
});
