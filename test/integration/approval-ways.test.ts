import { afterAll, beforeAll, expect, test } from "vitest";
import { type ApprovalInfo, attempt, bestOf, compare, type Session } from "../../src/index.ts";
import { finished, runCommand, startCommand } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Every way in which a command runs: each is held, or refused where nobody is asked. */
const POLICY = '{"defaults": false, "commands": [["deploy"]], "timeoutSeconds": 120}';
const HELD = { code: "APPROVAL_DENIED" };

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ approve: POLICY });
  await session.exec("printf '#!/bin/sh\\necho x >> /root/deployed\\n' > /usr/bin/deploy");
  await session.exec("chmod +x /usr/bin/deploy; touch /root/deployed");
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Denies the next step that waits, and returns it. */
async function denyNext(): Promise<ApprovalInfo> {
  const waiting = await eventually(
    "a step waits",
    async () => (await own.waypoint.approvals.list()).filter(({ state }) => state === "waiting"),
    (all) => all.some(({ isWaitedFor }) => isWaitedFor),
  );
  const step = waiting.find(({ isWaitedFor }) => isWaitedFor) as ApprovalInfo;
  return await own.waypoint.approvals.deny(step.id);
}

async function expectHeld(run: () => Promise<unknown>): Promise<void> {
  const ended = expect(run()).rejects.toMatchObject(HELD);
  expect(await denyNext()).toMatchObject({ rule: "deploy", state: "denied" });
  await ended;
}

async function expectHeldLine(...words: string[]): Promise<void> {
  const ended = finished(startCommand(own.stateDir, words));
  await denyNext();
  const { exitCode, stdout, stderr } = await ended;
  expect({ exitCode, said: stdout + stderr }).toMatchObject({ exitCode: 125 });
  expect(stdout + stderr).toContain("was not approved");
}

const nothingRan = async () =>
  expect((await session.exec("wc -c < /root/deployed")).stdout.trim()).toBe("0");

test("exec of the SDK: a line, words, a shell of its own, as another user, with input", async () => {
  await expectHeld(() => session.exec("deploy"));
  await expectHeld(() => session.exec(["deploy", "now"]));
  await expectHeld(() => session.exec("deploy", { shell: "own", user: "nobody", cwd: "/" }));
  await expectHeld(() => session.exec("deploy", { shell: "own", input: "x" }));
  await nothingRan();
});

test("exec and run of the command line, with and without a terminal, and as JSON", async () => {
  const { name } = session;
  await expectHeldLine("exec", name, "--", "deploy");
  await expectHeldLine("exec", "-t", name, "--", "deploy");
  await expectHeldLine("exec", "-t", "--shell", "own", name, "--", "deploy");
  await expectHeldLine("exec", "-u", "nobody", name, "--", "deploy");
  await expectHeldLine("--json", "exec", name, "--", "deploy");
  await expectHeldLine("run", "--rm", "--approve", POLICY, "--", "sh", "-c", "deploy");
  const checkpoint = await session.checkpoint();
  await expectHeldLine("run", "--rm", "--from", checkpoint.id, "--", "deploy");
  await nothingRan();
});

test("an attachment that types a command", async () => {
  const size = { columns: 80, rows: 24 };
  await expectHeld(async () => {
    for await (const _ of await session.attach({ ...size, command: ["deploy"] })) {
      // Nothing is shown before it is approved.
    }
  });
  await nothingRan();
});

test("attempt, bestOf and compare of the SDK", async () => {
  await expectHeld(() => attempt(session, async () => await session.exec("deploy")));
  const checkpoint = await session.checkpoint();
  const tried = bestOf(checkpoint, [async (fork) => await fork.exec("deploy")], { score: () => 1 });
  const isTried = expect(tried).rejects.toMatchObject({ errors: [HELD] });
  await denyNext();
  await isTried;
  const strategies = [
    async (fork: Session) => await fork.exec("deploy"),
    async () => "idle",
  ] as const;
  const compared = compare(checkpoint, strategies, async ({ outcomes }) => outcomes);
  await denyNext();
  expect(await compared).toMatchObject([{ status: "rejected", reason: HELD }, {}]);
});

test("a verification, chosen, automatic or typed, and a bisect refuse it", async () => {
  const good = await session.checkpoint();
  await session.exec("touch /root/later");
  const bad = await session.checkpoint();
  const refused = { code: "APPROVAL_REFUSED" };

  const { results } = await own.waypoint.verify([bad], "deploy");
  expect(results).toMatchObject([{ verification: null, error: refused }]);
  await expect(bad.verify("make && deploy")).rejects.toMatchObject(refused);
  await expect(own.waypoint.bisect(good, bad, "deploy")).rejects.toMatchObject(refused);
  const typed = await runCommand(own.stateDir, ["verify", bad.id, "--", "deploy"]);
  expect(typed.exitCode).not.toBe(0);
  expect(typed.stdout + typed.stderr).toContain("a person has to approve");

  await session.verifyWith("deploy", { automatic: true });
  const verified = await session.checkpoint({ verify: true }).catch((error: unknown) => error);
  expect(JSON.stringify(verified)).not.toContain('"passed"');
  await session.verifyWith(null);
  await nothingRan();
});

test("a compensation is held, its person is told, and nothing is restored", async () => {
  const checkpoint = await session.checkpoint();
  await session.effect("order", { compensate: "deploy" }, async () => "placed");
  await session.exec("touch /root/after");
  const notices: string[] = [];
  const restored = session.restore(checkpoint, {
    compensate: true,
    onNotice: (notice) => notices.push(notice),
    onApproval: async () => "deny",
  });

  await expect(restored).rejects.toMatchObject({ code: "EFFECT_NOT_COMPENSATED" });
  expect(notices.join()).toContain("held: deploy");
  const line = finished(
    startCommand(own.stateDir, ["restore", "--yes", "--compensate", session.name, checkpoint.id]),
  );
  await denyNext();
  const { exitCode, stderr } = await line;
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain("held: deploy");
  expect((await session.exec("ls /root/after")).exitCode).toBe(0);
  await nothingRan();
});

test("a task runs nothing by itself, and inside a session nobody can approve", async () => {
  await session.tasks.add({ id: "ship", title: "deploy" });
  await session.tasks.set("ship", { status: "completed" });
  await nothingRan();
  const inside = await session.exec(
    `ls ${own.stateDir}/daemon.sock /run/waypoint* 2>&1; waypoint approve 2>&1`,
    { shell: "own" },
  );
  expect(inside.exitCode).not.toBe(0);
  expect(inside.stdout).toContain("No such file");
});

test("a hostile line is told escaped and cut, and without its secrets", async () => {
  const line = `deploy '\u001b[2J\u202e' TOKEN=hunter2-secret ${"x".repeat(20_000)}`;
  const held = session.exec(line);
  const isDenied = expect(held).rejects.toMatchObject(HELD);
  await eventually(
    "it waits",
    () => own.waypoint.approvals.list(session.id),
    (all) => all.some(({ isWaitedFor }) => isWaitedFor),
  );
  const { stdout } = await runCommand(own.stateDir, ["approvals", session.name]);
  const told = await denyNext();
  await isDenied;

  expect(told.command.length).toBeLessThanOrEqual(4096);
  expect(stdout).not.toContain("\u001b");
  expect(stdout).not.toContain("hunter2");
  expect(Math.max(...stdout.split("\n").map((each) => each.length))).toBeLessThan(500);
});
