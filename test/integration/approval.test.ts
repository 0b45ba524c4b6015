import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { finished, runCommand, startCommand } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let bare: string;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  bare = mkdtempSync(path.join(os.tmpdir(), "waypoint-bare-"));
  execFileSync("git", ["init", "-q", "--bare", bare]);
  session = await own.waypoint.new({
    env: { HOME: "/nonexistent" },
    approve: "default",
    binds: [{ source: bare, target: "/srv/remote", readOnly: false }],
  });
  const made = await session.exec(
    "git init -q /srv/work && cd /srv/work && git config user.email a@b.c && git config user.name a " +
      "&& git config --global --add safe.directory '*'; " +
      "git remote add origin /srv/remote && git commit -q --allow-empty -m first",
  );
  expect(made.exitCode).toBe(0);
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
  rmSync(bare, { recursive: true });
});

const pushTo = (branch: string) =>
  `git -c safe.directory='*' push origin HEAD:refs/heads/${branch}`;

function refs(): string {
  return execFileSync("git", ["-C", bare, "for-each-ref", "--format=%(refname:short)"], {
    encoding: "utf8",
  });
}

async function untilWaiting(command: string) {
  const list = await eventually(
    "a step waits",
    () => own.waypoint.approvals.list(session.id),
    (all) => all.some((each) => each.state === "waiting" && each.command === command),
  );
  return list.find((each) => each.state === "waiting" && each.command === command)?.id ?? "";
}

test("a push that nobody approves pushes nothing, and a checkpoint was taken before", async () => {
  const pushing = session.exec(pushTo("nobody"), { approvalTimeoutMs: 300 });

  await expect(pushing).rejects.toMatchObject({ code: "APPROVAL_EXPIRED" });
  expect(refs()).not.toContain("nobody");
  const [latest] = await own.waypoint.approvals.list(session.id);
  expect(latest).toMatchObject({ state: "expired", rule: "git push" });
  const { intent } = await own.waypoint.show(latest?.checkpoint ?? "");
  expect(intent).toBe("before git push");
});

test("a denied one pushes nothing and says why; what is not held is not", async () => {
  const pushing = session.exec(pushTo("denied"));
  const refused = expect(pushing).rejects.toMatchObject({
    code: "APPROVAL_DENIED",
    message: expect.stringContaining("not today"),
  });
  await own.waypoint.approvals.deny(await untilWaiting(pushTo("denied")), { why: "not today" });

  await refused;
  expect(refs()).not.toContain("denied");
  expect((await session.exec("git status --short; echo git push")).exitCode).toBe(0);
});

test("an approved one pushes once; of two answers the first holds; others work meanwhile", async () => {
  const notices: string[] = [];
  const onNotice = (notice: string) => notices.push(notice);
  const pushing = session.exec(pushTo("approved"), { onNotice });
  const id = await untilWaiting(pushTo("approved"));
  expect((await session.exec("echo free")).stdout).toBe("free\n");

  const answers = await Promise.allSettled([
    own.waypoint.approvals.approve(id),
    own.waypoint.approvals.approve(session.id),
  ]);

  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect((await pushing).exitCode).toBe(0);
  expect(refs()).toContain("approved");
  expect(notices.join()).toContain(`waypoint approve ${id}`);
  await expect(own.waypoint.approvals.deny(id)).rejects.toMatchObject({ code: "APPROVAL_SETTLED" });
  const missing = own.waypoint.approvals.approve(session.id);
  await expect(missing).rejects.toMatchObject({ code: "APPROVAL_NOT_FOUND" });
});

test("what a client has left is taken up by the same command, once, with its answer", async () => {
  const leaving = new AbortController();
  const left = session.exec(pushTo("left-alone"), { signal: leaving.signal });
  const isLeft = expect(left).rejects.toMatchObject({ code: "CANCELLED" });
  const id = await untilWaiting(pushTo("left-alone"));
  leaving.abort();
  await isLeft;
  await eventually(
    "nobody waits for it",
    async () => (await own.waypoint.approvals.list(session.id)).find((each) => each.id === id),
    (found) => found?.isWaitedFor === false,
  );

  const approved = await own.waypoint.approvals.approve(id);
  expect(approved).toMatchObject({ state: "approved", isWaitedFor: false });
  expect(refs()).not.toContain("left-alone");
  expect((await session.exec(pushTo("left-alone"))).exitCode).toBe(0);
  expect(refs()).toContain("left-alone");
  const again = session.exec(pushTo("left-alone"), { approvalTimeoutMs: 300 });
  await expect(again).rejects.toMatchObject({ code: "APPROVAL_EXPIRED" });
});

test("who asked and who answered is kept: by the kernel's word, and by the client's", async () => {
  const pushing = session.exec(pushTo("whose"));
  const id = await untilWaiting(pushTo("whose"));
  const approve = startCommand(own.stateDir, ["approve", id], {
    env: { ...process.env, SUDO_USER: "alice" },
  });
  expect((await finished(approve)).exitCode).toBe(0);
  expect((await pushing).exitCode).toBe(0);

  const [found] = await own.waypoint.approvals.list(session.id);
  expect(found).toMatchObject({
    id,
    askedBy: { uid: 0, user: "root", surface: "sdk" },
    answeredBy: { uid: 0, user: "root", surface: "cli", sudoUser: "alice" },
  });
  const { stdout } = await runCommand(own.stateDir, ["approvals", session.name]);
  expect(stdout).toContain("root (sudo: alice, cli)");
  const late = await runCommand(own.stateDir, ["--json", "deny", id]);
  expect(JSON.parse(late.stderr)).toMatchObject({
    error: { code: "APPROVAL_SETTLED", detail: { answeredBy: { sudoUser: "alice" } } },
  });
});

test("two clients with the same command need two approvals", async () => {
  const command = `${pushTo("twice")} && echo pushed`;
  const both = [1, 2].map(() => session.exec(command, { approvalTimeoutMs: 20_000 }));
  const settled = Promise.allSettled(both);
  const waiting = await eventually(
    "both wait",
    async () =>
      (await own.waypoint.approvals.list(session.id)).filter(({ state }) => state === "waiting"),
    (all) => all.length === 2,
  );

  const [one, other] = waiting.map(({ id }) => id);
  await own.waypoint.approvals.approve(one ?? "");
  await own.waypoint.approvals.deny(other ?? "");

  expect((await settled).map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

test("after a restore what was approved is not run: it was for another machine", async () => {
  const checkpoint = await session.checkpoint();
  const refused = expect(session.exec(pushTo("restored"))).rejects.toMatchObject({
    code: "APPROVAL_DENIED",
  });
  const id = await untilWaiting(pushTo("restored"));
  await session.restore(checkpoint);
  await own.waypoint.approvals.approve(id);

  await refused;
  expect(refs()).not.toContain("restored");
});

test("a verification refuses such a step, and a fork has the policy", async () => {
  const checkpoint = await session.checkpoint();
  const { results } = await own.waypoint.verify([checkpoint], pushTo("verified"));

  expect(results[0]?.error).toMatchObject({ code: "APPROVAL_REFUSED" });
  const [fork] = await checkpoint.fork();
  expect(await own.waypoint.approvals.policy(fork?.id ?? "")).toMatchObject({ policy: "default" });
  await own.waypoint.approvals.policy(fork?.id ?? "", "off");
  expect(await own.waypoint.approvals.policy(fork?.id ?? "")).toMatchObject({ timeoutMs: null });
  await fork?.remove({ force: true });
});

test("Ctrl-C leaves a step that waits", async () => {
  const child = startCommand(own.stateDir, ["exec", session.name, "--", pushTo("ctrl-c")]);
  const ended = finished(child);
  const id = await untilWaiting(pushTo("ctrl-c"));
  child.kill("SIGINT");

  expect(await ended).toMatchObject({ exitCode: 130, stderr: expect.stringContaining(id) });
  await own.waypoint.approvals.deny(id);
  expect(refs()).not.toContain("ctrl-c");
});

test("from the command line: a bad policy, none that waits, and the end of one that nobody gives", async () => {
  const run = (...words: string[]) => runCommand(own.stateDir, words);

  expect((await run("approval", session.name, "/nonexistent")).exitCode).toBe(2);
  expect((await run("approve")).exitCode).toBe(10);
  const held = await run("exec", session.name, "--approval-timeout", "1", "--", pushTo("line"));
  expect(held.exitCode).toBe(125);
  expect(held.stderr).toContain("nothing ran");
  expect((await run("approvals")).stdout).toContain("expired");
});
