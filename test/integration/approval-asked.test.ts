import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApprovalInfo, Session } from "../../src/index.ts";
import { finished, startCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ approve: '{"defaults": false, "commands": [["deploy"]]}' });
  await session.exec("printf '#!/bin/sh\\necho $1 >> /root/deployed\\n' > /usr/bin/deploy");
  await session.exec("chmod +x /usr/bin/deploy; touch /root/deployed");
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

async function deployed(what: string): Promise<number> {
  const { stdout } = await session.exec(`grep -cx ${what} /root/deployed; true`);
  return Number(stdout);
}

async function untilWaitedFor(command: string): Promise<ApprovalInfo> {
  const isIt = (each: ApprovalInfo) => each.command === command && each.isWaitedFor;
  const all = await eventually(
    `${command} waits`,
    () => own.waypoint.approvals.list(session.id),
    (list) => list.some(isIt),
  );
  return all.find(isIt) as ApprovalInfo;
}

test("onApproval approves, denies, or leaves it to others; it is asked once for each", async () => {
  const asked: string[] = [];
  const approved = await session.exec("deploy asked-1", {
    onApproval: async ({ command, rule }) => {
      asked.push(`${rule}: ${command}`);
      return "approve";
    },
  });
  expect(approved.exitCode).toBe(0);
  expect(asked).toEqual(["deploy: deploy asked-1"]);

  const denied = session.exec("deploy asked-2", { onApproval: async () => "deny" });
  await expect(denied).rejects.toMatchObject({ code: "APPROVAL_DENIED" });

  let isTakenBack = false;
  const others = session.exec("deploy asked-3", {
    onApproval: async (_request, { signal }) => {
      signal.addEventListener("abort", () => (isTakenBack = true));
      return undefined;
    },
  });
  await own.waypoint.approvals.approve((await untilWaitedFor("deploy asked-3")).id);
  expect((await others).exitCode).toBe(0);
  expect(isTakenBack).toBe(true);
  expect(await Promise.all([1, 2, 3].map((count) => deployed(`asked-${count}`)))).toEqual([
    ...[1, 0, 1],
  ]);
});

test("an onApproval that throws, or says what is no answer, denies", async () => {
  const thrown = session.exec("deploy thrown", {
    onApproval: () => {
      throw new Error("no window");
    },
  });
  await expect(thrown).rejects.toMatchObject({
    ...{ code: "APPROVAL_DENIED", message: expect.stringContaining("no window") },
  });
  const odd = session.exec("deploy odd", { onApproval: async () => "yes" as "approve" });
  await expect(odd).rejects.toMatchObject({ code: "APPROVAL_DENIED" });
  expect(await deployed("thrown")).toBe(0);
});

test("a watch tells what waits, whose command has gone, and what became of it", async () => {
  const leaving = new AbortController();
  const pushed = session.exec("deploy watched", { signal: leaving.signal });
  const isLeft = expect(pushed).rejects.toMatchObject({ code: "CANCELLED" });
  await using watch = own.waypoint.approvals.watch({ session: session.id });
  const told = watch[Symbol.asyncIterator]();
  const next = async () => (await told.next()).value as ApprovalInfo;

  const waiting = await next();
  expect(waiting).toMatchObject({ state: "waiting", command: "deploy watched", isWaitedFor: true });
  leaving.abort();
  await isLeft;
  expect(await next()).toMatchObject({ id: waiting.id, state: "waiting", isWaitedFor: false });
  await own.waypoint.approvals.deny(waiting.id, { why: "gone" });
  expect(await next()).toMatchObject({ id: waiting.id, state: "denied", why: "gone" });
});

test("a watch outlives the daemon, tells what was answered meanwhile, and ends by its signal", async () => {
  const ending = new AbortController();
  const held = session.exec("deploy outlived", { approvalTimeoutMs: 120_000 });
  const { id } = await untilWaitedFor("deploy outlived");
  const told: ApprovalInfo[] = [];
  const watching = (async () => {
    const { signal } = ending;
    for await (const each of own.waypoint.approvals.watch({ signal })) told.push(each);
  })();
  const isEnded = expect(watching).rejects.toMatchObject({ code: "CANCELLED" });
  await eventually(
    "it is told",
    () => told.length,
    (count) => count > 0,
  );
  await killDaemon(await own.daemonPid());

  await own.waypoint.approvals.approve((await untilWaitedFor("deploy outlived")).id);
  expect((await held).exitCode).toBe(0);
  const states = await eventually(
    "its end is told",
    () => told.filter((each) => each.id === id).map(({ state }) => state),
    (all) => all.at(-1) !== "waiting",
  );
  expect(["approved", "used"]).toContain(states.at(-1));
  ending.abort();
  await isEnded;
});

test("approvals --follow tells them line by line", async () => {
  const child = startCommand(own.stateDir, ["--json", "approvals", "--follow", session.name]);
  let printed = "";
  child.stdout?.on("data", (bytes: Buffer) => (printed += bytes.toString("utf8")));
  const ended = finished(child);
  const held = session.exec("deploy followed");
  const isDenied = expect(held).rejects.toMatchObject({ code: "APPROVAL_DENIED" });
  const { id } = await untilWaitedFor("deploy followed");
  await eventually(
    "it is printed",
    () => printed,
    (text) => text.includes(id),
  );
  await own.waypoint.approvals.deny(id);
  await isDenied;
  await eventually(
    "its end is printed",
    () => printed,
    (text) => text.includes('"denied"'),
  );
  child.kill("SIGINT");
  expect((await ended).exitCode).toBe(130);
});

test("a client whose daemon is killed waits on at the next one, and says so", async () => {
  const child = startCommand(own.stateDir, ["exec", session.name, "--", "deploy killed"]);
  const ended = finished(child);
  const { id } = await untilWaitedFor("deploy killed");
  await killDaemon(await own.daemonPid());
  const again = await untilWaitedFor("deploy killed");
  expect(again.id).toBe(id);
  await own.waypoint.approvals.approve(id);

  const { exitCode, stderr } = await ended;
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(stderr).toContain("The daemon was lost while deploy waits");
  expect(stderr).toContain(`waits on as ${id}`);
  expect(await deployed("killed")).toBe(1);
});

test("what is sent to a command that waits is there when it runs, on another daemon too", async () => {
  const reading = session.exec("deploy sent; cat", { shell: "own", input: "all of it" });
  const { id } = await untilWaitedFor("deploy sent; cat");
  await killDaemon(await own.daemonPid());
  await untilWaitedFor("deploy sent; cat");
  await own.waypoint.approvals.approve(id);
  expect(await reading).toMatchObject({ exitCode: 0, stdout: "all of it" });
});

test("a step that was begun is not taken up again, nor one of another command", async () => {
  const done = session.exec("deploy begun");
  const { id } = await untilWaitedFor("deploy begun");
  await own.waypoint.approvals.approve(id);
  await done;
  const retake = (approval: string, command: string) =>
    session.exec(command, { approval } as object);

  await expect(retake(id, "deploy begun")).rejects.toMatchObject({
    ...{ code: "APPROVAL_SETTLED", detail: { exitCode: 0 } },
  });
  await expect(retake(id, "deploy other")).rejects.toMatchObject({ code: "APPROVAL_NOT_FOUND" });
  await expect(retake(id, "echo free")).rejects.toMatchObject({ code: "APPROVAL_NOT_FOUND" });
  expect(await deployed("begun")).toBe(1);
});
