import { expect, test } from "vitest";
import type { Step } from "../../../test/support/fake-engine.ts";
import { engineWithSession, SESSION } from "../../../test/support/fake-session.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { reconnectSessions } from "./reconnect-sessions.ts";

/** Above the largest that the kernel gives: no process of this machine has it. */
const PID = 5_000_000;

/** Builds what the last daemon left: a running session, to which nobody is connected. */
function afterAKill() {
  const fake = engineWithSession(SESSION);
  const { engine, steps } = fake;
  engine.live.delete("s1", "s1-1");
  engine.catalog.updateInstance("s1-1", { pid: PID });
  steps.answer("newLink.list", async () => ({ terminals: [{ id: 3 }], commands: [{ id: 8 }] }));
  steps.answer("newLink.discard", async () => {});
  steps.forget();
  return fake;
}

/** The session runs as it did, although this daemon is not connected to it. */
function expectUntouched({ engine, steps }: ReturnType<typeof afterAKill>) {
  expect(engine.live.get("s1")).toBeUndefined();
  expect(engine.catalog.session("s1")).toEqual(SESSION);
  expect(engine.catalog.instance("s1-1")).toMatchObject({ pid: PID, startTicks: 7 });
  expect(steps.all).not.toContainEqual(expect.stringMatching(/killTree|unmountRoot|remove/));
}

test("a session that answers is rid of old callers and of a lifted limit, and adopted", async () => {
  const fake = afterAKill();

  await reconnectSessions(fake.engine);

  expect(fake.steps.all.filter((step) => !step.startsWith("catalog"))).toEqual([
    "connectInit init.sock",
    ...["newLink.list", "newLink.list", "newLink.discard 8", "limits.applyCpu s1-1"],
    expect.stringMatching(/^sandbox.nameHost \d+ web$/),
    ...[expect.stringMatching(/^store.chargeInstance s1-1/), "newLink.prepareReader"],
    "automatic.begin s1-1",
  ]);
  expect(fake.engine.live.get("s1")).toMatchObject({ instanceId: "s1-1", pid: PID, terminalId: 3 });
  expect(fake.logged).toEqual([]);
});

test.each<Step>(["connectInit", "newLink.list", "newLink.discard"])(
  "a session whose %s fails is left alone, and nothing stays connected to it",
  async (step) => {
    const fake = afterAKill();
    fake.steps.fail(step);

    await reconnectSessions(fake.engine);

    expectUntouched(fake);
    expect(fake.steps.all.includes("newLink.end")).toBe(step !== "connectInit");
    expect(fake.logged).toEqual(["a running session does not answer"]);
  },
);

test("of a session that was being ended nothing goes on, and it is stopped", async () => {
  const fake = afterAKill();
  fake.engine.catalog.updateInstance("s1-1", { endedFor: "removed" });

  await reconnectSessions(fake.engine);

  expect(fake.steps.all).toContain(`sandbox.killTree ${PID} 7`);
  expect(fake.steps.all).not.toContain("connectInit init.sock");
  expect(fake.engine.catalog.session("s1")?.state).toBe("stopped");
});

test.each<Step>(["limits.applyCpu", "store.chargeInstance"])(
  "a session whose %s fails is adopted all the same",
  async (step) => {
    const fake = afterAKill();
    fake.steps.fail(step);

    await reconnectSessions(fake.engine);

    expect(fake.engine.live.get("s1")?.instanceId).toBe("s1-1");
    expect(fake.logged).toHaveLength(1);
  },
);

test("a session that does not answer at first is called again, over one line at a time", async () => {
  const fake = afterAKill();
  const silent = new WaypointError("SESSION_UNRESPONSIVE", "It is busy.");
  fake.steps.fail("newLink.list", silent, 1);

  await reconnectSessions(fake.engine);
  await expect.poll(() => fake.engine.live.get("s1"), { timeout: 10_000 }).toBeDefined();

  const lines = fake.steps.all.filter((step) => /connectInit|newLink.end/.test(step));
  expect(lines).toEqual(["connectInit init.sock", "newLink.end", "connectInit init.sock"]);
  expect(fake.logged).toEqual(["a running session does not answer"]);
});

test("a session that was restored before it answered keeps what it was restored to", async () => {
  const fake = afterAKill();
  fake.steps.during("connectInit", () =>
    fake.engine.catalog.updateSession("s1", { instance: "s1-2" }),
  );

  await reconnectSessions(fake.engine);

  expect(fake.steps.all).toContain("newLink.end");
  expect(fake.engine.live.get("s1")).toBeUndefined();
  expect(fake.engine.catalog.session("s1")).toEqual({ ...SESSION, instance: "s1-2" });
});

test("a session whose processes have died is ended, and keeps its files", async () => {
  const fake = afterAKill();
  fake.steps.answer("sandbox.startTicks", () => null);

  await reconnectSessions(fake.engine);

  expect(fake.engine.catalog.session("s1")).toEqual({ ...SESSION, state: "ended" });
  expect(fake.engine.catalog.instance("s1-1")).toMatchObject({ pid: null });
  const ends = ["sandbox.unmountRoot s1-1", "network.remove s1-1", "limits.remove s1-1"];
  for (const end of ends) expect(fake.steps.all).toContain(end);
  expect(fake.steps.all).not.toContain("store.deleteInstance s1-1");
});

test.each<Step>(["sandbox.killTree", "sandbox.unmountRoot", "network.remove", "limits.remove"])(
  "a dead session whose %s fails is ended, and holds no other session up",
  async (step) => {
    const fake = afterAKill();
    const { catalog, live } = fake.engine;
    catalog.insertSession({ ...SESSION, id: "s2", name: "two", instance: "s2-1" });
    catalog.insertInstance({ id: "s2-1", session: "s2", pid: PID + 1, startTicks: 7 });
    fake.steps.answer("sandbox.startTicks", (pid: number) => (pid === PID ? null : 7));
    fake.steps.fail(step);

    await reconnectSessions(fake.engine);

    expect(catalog.session("s1")?.state).toBe("ended");
    expect(live.get("s2")?.instanceId).toBe("s2-1");
    expect(fake.logged).toContain("recovery: a session that has ended");
  },
);

test("a session that lost its memory is restored again from its checkpoint", async () => {
  const fake = afterLoss();

  await reconnectSessions(fake.engine);
  await fake.engine.background.idle();

  expect(fake.engine.catalog.session("s1")).toMatchObject({ state: "running", instance: "s1-2" });
  expect(fake.engine.live.get("s1")?.instanceId).toBe("s1-2");
  expect(fake.engine.catalog.instance("s1-1")).toBeUndefined();
  expect(fake.engine.catalog.operations.all("s1")).toMatchObject([{ kind: "recover" }]);
});

test.each<Step>([
  ...(["store.createInstanceFrom", "criu.restore", "connectInit"] as const),
  ...(["catalog.transaction", "catalog.operations.insert"] as const),
])("of a session that lost its memory, where %s fails, no half one is left", async (step) => {
  const fake = afterLoss();
  fake.steps.fail(step);

  await reconnectSessions(fake.engine);
  await fake.engine.background.idle();

  expect(fake.engine.catalog.session("s1")).toMatchObject({ state: "ended", instance: "s1-1" });
  expect(fake.engine.catalog.instance("s1-2")).toBeUndefined();
  expect(fake.engine.live.get("s1")).toBeUndefined();
  expect(fake.steps.left()).toEqual([]);
  expect(fake.engine.catalog.operations.all("s1")).toEqual([]);
});

/** The processes were ended, since the server of their memory had died. */
function afterLoss() {
  const fake = afterAKill();
  fake.engine.catalog.updateInstance("s1-1", { fillingFrom: "c2" });
  fake.steps.answer("criu.awaitPagesServer", async () => ({ kind: "lost" }));
  fake.steps.answer("sandbox.startTicks", (pid: number) => (pid === PID ? null : 7));
  return fake;
}
