import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ApprovalInfo, hasCode, type Session } from "../../src/index.ts";
import { killDaemon } from "../support/crash-model.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Each is killed at another moment of asking, waiting, being approved and beginning. */
const ROUNDS = 12;
const ASKED_WITHIN_MS = 1_500;
const APPROVED_WITHIN_MS = 120;
/** How a push may end whose daemon died: before it was told as waiting, or after it had begun. */
const LOST = ["DAEMON_UNREACHABLE", "APPROVAL_SETTLED"] as const;

let own: TestWaypoint;
let bare: string;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  bare = mkdtempSync(path.join(os.tmpdir(), "waypoint-bare-"));
  execFileSync("git", ["init", "-q", "--bare", bare]);
  // The repository itself counts what arrives.
  const hook = path.join(bare, "hooks", "post-receive");
  writeFileSync(hook, `#!/bin/sh\ncat >> "$GIT_DIR/received"\n`);
  chmodSync(hook, 0o755);
  writeFileSync(path.join(bare, "received"), "");
  session = await own.waypoint.new({
    env: { HOME: "/nonexistent" },
    approve: "default",
    binds: [{ source: bare, target: "/srv/remote", readOnly: false }],
  });
  const made = await session.exec(
    "git init -q /srv/work && cd /srv/work && git config user.email a@b.c && git config user.name a " +
      "&& git remote add origin /srv/remote && git commit -q --allow-empty -m first",
  );
  expect(made.exitCode).toBe(0);
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
  if (bare !== undefined) rmSync(bare, { recursive: true });
});

/** Each run has something new to push, also a second one. */
const pushOf = (branch: string) =>
  `git commit -q --allow-empty -m next && git -c safe.directory='*' push origin HEAD:refs/heads/${branch}`;

const received = (branch: string) =>
  readFileSync(path.join(bare, "received"), "utf8")
    .split("\n")
    .filter((line) => line.endsWith(`refs/heads/${branch}`)).length;

const refs = () => execFileSync("git", ["-C", bare, "for-each-ref"], { encoding: "utf8" });

async function stepOf(command: string): Promise<ApprovalInfo | undefined> {
  return (await own.waypoint.approvals.list(session.id)).find((each) => each.command === command);
}

async function killAfter(ms: number): Promise<void> {
  const pid = await own.daemonPid();
  await delay(ms);
  await killDaemon(pid);
}

test("kill -9 at any moment: nobody approves, and nothing is pushed", async () => {
  for (let round = 0; round < ROUNDS / 2; round += 1) {
    const command = pushOf(`never-${round}`);
    const pushing = session.exec(command, { approvalTimeoutMs: 3_000 }).catch((error) => error);
    await killAfter((round * 2 * ASKED_WITHIN_MS) / ROUNDS);
    const error: unknown = await pushing;
    const isEnd = hasCode(error, "APPROVAL_EXPIRED") || hasCode(error, "DAEMON_UNREACHABLE");
    expect({ round, error, isEnd }).toMatchObject({ isEnd: true });
  }
  expect(refs()).not.toContain("never-");
  expect(readFileSync(path.join(bare, "received"), "utf8")).not.toContain("never-");
});

/** Ends as the command does, and never rejects. */
function push(command: string) {
  return session.exec(command).then(
    ({ exitCode }) => ({ exitCode, error: undefined }),
    (error: unknown) => ({ exitCode: undefined, error }),
  );
}

const untilWaitedFor = async (command: string) =>
  (await eventually(
    `${command} waits`,
    () => stepOf(command),
    (step) => step?.state === "waiting" && step.isWaitedFor,
  )) as ApprovalInfo;

test("kill -9 while it waits, once or twice: approved then, it is pushed exactly once", async () => {
  for (let round = 0; round < 4; round += 1) {
    const command = pushOf(`waited-${round}`);
    const pushing = push(command);
    const { id } = await untilWaitedFor(command);
    for (let kills = 0; kills <= round % 2; kills += 1) {
      await killAfter(round * 20);
      expect((await untilWaitedFor(command)).id).toBe(id);
    }
    expect(received(`waited-${round}`)).toBe(0);
    await own.waypoint.approvals.approve(id);
    expect(await pushing).toEqual({ exitCode: 0, error: undefined });
    expect(received(`waited-${round}`)).toBe(1);
  }
});

test("kill -9 at any moment of its approval: it is pushed once at most, and what is not known is told", async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const branch = `round-${round}`;
    const command = pushOf(branch);
    const pushing = push(command);
    const { id } = await untilWaitedFor(command);
    const killing = killAfter((round * APPROVED_WITHIN_MS) / ROUNDS);
    const isApproved = await own.waypoint.approvals.approve(id).then(
      () => true,
      () => false,
    );
    await killing;
    const step = await stepOf(command);
    if (!isApproved && step?.state === "waiting") await own.waypoint.approvals.approve(id);
    const { exitCode, error } = await pushing;
    if (exitCode !== undefined) expect({ round, exitCode }).toEqual({ round, exitCode: 0 });
    else
      expect({ round, isLost: LOST.some((code) => hasCode(error, code)), error }).toMatchObject({
        isLost: true,
      });
    // A command that was begun goes on without a daemon.
    const isPushed = exitCode === 0;
    const count = await eventually(
      "what was begun has ended",
      async () => ({ pushed: received(branch), step: await stepOf(command) }),
      ({ pushed, step: now }) => pushed > 0 || !isPushed || now?.state !== "used",
    );
    expect({ round, ...count }).toMatchObject({ pushed: isPushed ? 1 : expect.any(Number) });
    expect(count.pushed).toBeLessThanOrEqual(1);
  }
  const all =
    readFileSync(path.join(bare, "received"), "utf8").match(/refs\/heads\/round-\d+/g) ?? [];
  expect(new Set(all).size).toBe(all.length);
});
