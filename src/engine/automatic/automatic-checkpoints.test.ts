import { afterEach, expect, test } from "vitest";
import type { Step } from "../../../test/support/fake-engine.ts";
import { checkpointsOf, engineWithSession, SESSION } from "../../../test/support/fake-session.ts";
import { AutomaticCheckpoints } from "./automatic-checkpoints.ts";

const COMMAND = { session: "s1", instance: "s1-1", liveShellLine: null };

const open: AutomaticCheckpoints[] = [];

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** Follows a running session with a policy. */
function follow(auto: string, change: Partial<typeof SESSION> = {}) {
  const fake = engineWithSession({ ...SESSION, auto, ...change });
  const { catalog } = fake.engine;
  const automatic = new AutomaticCheckpoints(fake.engine);
  open.push(automatic);
  const instance = fake.live("s1", "s1-1");
  fake.engine.live.set(instance);
  fake.steps.answer("store.hasChangedFiles", async () => true);
  automatic.begin(instance);
  const row = () => catalog.session("s1") ?? SESSION;
  const served = () =>
    expect.poll(() => automatic.describe(row()).isScheduled, { timeout: 10_000 }).toBe(false);
  const taken = () => catalog.checkpoints().filter(({ trigger }) => trigger === "auto");
  return { ...fake, automatic, row, served, taken };
}

/** Each failure is noted on the row, the next try waits, and nothing of a checkpoint is left. */
function expectFailed(followed: ReturnType<typeof follow>, message: string) {
  const { engine, automatic, row, steps, logged, taken } = followed;
  const { autoFailure, autoFailedAt, ...rest } = row();
  expect(autoFailure).toContain(message);
  expect(autoFailedAt).not.toBeNull();
  expect(rest).toMatchObject({ state: "running", head: "c2", instance: "s1-1" });
  expect(automatic.describe(row()).retryAt).not.toBeNull();
  expect(taken()).toEqual([]);
  expect(engine.catalog.checkpoints()).toEqual(checkpointsOf(SESSION));
  expect(engine.live.get("s1")?.instanceId).toBe("s1-1");
  expect(steps.left()).toEqual([]);
  expect(logged).toContain("no automatic checkpoint");
}

test("after a command the prompt is waited for, the changes are looked at, and a checkpoint is taken", async () => {
  const { automatic, steps, served, taken, row, logged } = follow("hybrid");

  automatic.commandEnded(COMMAND);
  await served();

  const order = ["link.list", "store.hasChangedFiles s1-1", "criu.dump s1-1"];
  expect(steps.all.filter((step) => order.includes(step))).toEqual(order);
  expect(taken()).toMatchObject([{ autoCause: "command", parent: "c2" }]);
  expect(row()).toMatchObject({ head: taken()[0]?.id, autoFailure: null });
  expect(logged).toEqual([]);
});

test("what a shell does until its first prompt is no change; what comes later is one", async () => {
  const { automatic, steps, engine, served, taken } = follow("hybrid");
  steps.answer("store.hasChangedFiles", async () => false);
  const runs = (processes: string) =>
    steps.answer("sandbox.treeFingerprint", () => ({ processes, ranTicks: 1 }));
  const live = engine.live.get("s1");
  if (live === undefined) throw new Error("no session");

  runs("2 bash /root");
  automatic.started(live);
  automatic.commandEnded(COMMAND);
  await served();
  expect(taken()).toEqual([]);

  runs("2 bash /root\n9 redis /");
  automatic.commandEnded(COMMAND);
  await served();
  expect(taken()).toHaveLength(1);
});

test("a checkpoint waits while the shell is not at its prompt, and while the session is in use", async () => {
  const { automatic, engine, steps, served, taken } = follow("command");
  const lease = Promise.withResolvers<void>();
  const held = engine.leases.run("s1", () => lease.promise);
  let looks = 0;
  steps.answer("link.list", async () => {
    looks += 1;
    if (looks === 2) lease.resolve();
    return { terminals: [{ id: 1, isAlive: true, isAtPrompt: looks > 1 }], commands: [] };
  });

  automatic.commandEnded(COMMAND);
  await served();
  await held;

  expect(looks).toBe(2);
  expect(taken()).toHaveLength(1);
});

test.each<Step>([
  "store.hasChangedFiles",
  "store.space.flushIfDirty",
  "link.quiesce",
  "store.prepareCheckpoint",
  "criu.dump",
  "store.writeManifest",
  "catalog.insertCheckpoint",
])(
  "where %s fails, the row says why, the next try waits, and the session runs on",
  async (step) => {
    const followed = follow("hybrid");
    followed.steps.fail(step);

    followed.automatic.commandEnded(COMMAND);
    await followed.served();

    expectFailed(followed, `${step} failed`);
  },
);

test("a first process that cannot be asked for its prompt holds no checkpoint back", async () => {
  const { automatic, steps, served, taken } = follow("command");
  steps.fail("link.list");

  automatic.commandEnded(COMMAND);
  await served();

  expect(taken()).toHaveLength(1);
});

test("a session whose row cannot be read is captured at the next trigger", async () => {
  const { automatic, steps, served, taken, logged } = follow("command");
  steps.fail("catalog.session", new Error("unreadable"), 1);

  automatic.commandEnded(COMMAND);
  await expect.poll(() => logged).toEqual(["automatic checkpoint"]);
  expect(taken()).toEqual([]);
  automatic.commandEnded(COMMAND);
  await served();

  expect(taken()).toHaveLength(1);
});

test("a failure that cannot be noted is logged, and the next try waits all the same", async () => {
  const { automatic, steps, served, taken, row, logged } = follow("command");
  steps.fail("catalog.updateSession");

  automatic.commandEnded(COMMAND);
  await served();

  expect(taken()).toEqual([]);
  expect(row()).toMatchObject({ head: "c2", autoFailure: null });
  expect(automatic.describe(row()).retryAt).not.toBeNull();
  expect(logged).toContain("note an automatic checkpoint");
});

test("a policy that is chosen anew is tried at once, and a success forgets the failure", async () => {
  const { automatic, live, steps, served, taken, row } = follow("command");
  steps.fail("criu.dump", new Error("refused"), 1);
  automatic.commandEnded(COMMAND);
  await served();
  expect(row().autoFailure).toContain("refused");
  automatic.commandEnded(COMMAND);
  expect(automatic.describe(row())).toMatchObject({ isScheduled: true });

  automatic.begin(live("s1", "s1-1"));
  await served();

  expect(taken()).toHaveLength(1);
  expect(row()).toMatchObject({ autoFailure: null, autoFailedAt: null });
  expect(automatic.describe(row()).retryAt).toBeNull();
});

test("a session that ends while it is captured is no failure", async () => {
  const { automatic, engine, steps, served, taken, row } = follow("command");
  steps.fail("criu.dump");
  steps.during("criu.dump", () => engine.live.delete("s1", "s1-1"));

  automatic.commandEnded(COMMAND);
  await served();

  expect(taken()).toEqual([]);
  expect(row().autoFailure).toBeNull();
  expect(steps.left()).toEqual([]);
});

test("what happens during a checkpoint joins into one more", async () => {
  const { automatic, steps, served, taken } = follow("command,task");
  let dumps = 0;
  steps.during("criu.dump", () => {
    dumps += 1;
    if (dumps > 1) return;
    automatic.commandEnded(COMMAND);
    automatic.taskEnded("s1", "tests pass");
    automatic.commandEnded(COMMAND);
  });

  automatic.commandEnded(COMMAND);
  await served();

  expect(taken().map(({ autoCause, intent }) => [autoCause, intent])).toEqual([
    ["command", null],
    ["task", "tests pass"],
  ]);
});

test("no checkpoint is taken of what has not changed", async () => {
  const { automatic, steps, served, taken, row } = follow("hybrid");
  steps.answer("store.hasChangedFiles", async () => false);

  automatic.commandEnded(COMMAND);
  await served();

  expect(taken()).toEqual([]);
  expect(row().autoFailure).toBeNull();
});

test.each([
  { what: "another instance's command", auto: "command", change: {}, instance: "s1-0" },
  { what: "a command that nobody asked for", auto: "task", change: {}, instance: "s1-1" },
  { what: "a session by hand", auto: "manual", change: {}, instance: "s1-1" },
  {
    ...{ what: "a paused session", auto: "command", instance: "s1-1" },
    change: { autoPausedAt: "2026-01-02T03:04:05.678Z" },
  },
])("$what triggers nothing", ({ auto, change, instance }) => {
  const { automatic, row } = follow(auto, change);

  automatic.commandEnded({ ...COMMAND, instance });

  expect(automatic.describe(row()).isScheduled).toBe(false);
});

test("a close waits for the checkpoint that is under way, and lets none begin after it", async () => {
  const { automatic, steps, taken, row } = follow("command");
  const dumping = Promise.withResolvers<void>();
  const end = Promise.withResolvers<{ pauseMs: number; memoryBytes: number }>();
  steps.during("criu.dump", () => dumping.resolve());
  steps.answer("criu.dump", () => end.promise);
  automatic.commandEnded(COMMAND);
  await dumping.promise;
  automatic.commandEnded(COMMAND);

  const closed = automatic.close();
  end.resolve({ pauseMs: 1, memoryBytes: 4096 });
  await closed;

  expect(taken()).toHaveLength(1);
  automatic.commandEnded(COMMAND);
  expect(automatic.describe(row()).isScheduled).toBe(false);
});

test("a close while the prompt is waited for leaves the session as it was", async () => {
  const { automatic, steps, taken, row } = follow("command");

  automatic.commandEnded(COMMAND);
  await automatic.close();

  expect(taken()).toEqual([]);
  expect(row()).toMatchObject({ head: "c2", autoFailure: null });
  expect(steps.all).toEqual([]);
});

test.each<Step>(["catalog.session", "store.filesState", "sandbox.treeFingerprint"])(
  "a session is adopted where %s fails, and is followed no worse for it",
  async (step) => {
    const { automatic, engine, live, steps, logged, served, taken } = follow("command");
    const next = live("s1", "s1-1");
    engine.live.set(next);
    steps.fail(step, new Error("unreadable"), 1);

    expect(() => automatic.begin(next)).not.toThrow();

    expect(logged).toHaveLength(1);
    automatic.commandEnded(COMMAND);
    await served();
    expect(taken()).toHaveLength(1);
  },
);
