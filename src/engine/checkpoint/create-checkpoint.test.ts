import { expect, test, vi } from "vitest";
import type { FakeEngine, Step } from "../../../test/support/fake-engine.ts";
import {
  checkpointsOf,
  engineWithSession,
  SESSION,
  underLease,
  WITH_BIND,
} from "../../../test/support/fake-session.ts";
import { toWaypointError, WaypointError } from "../../shared/errors/index.ts";
import type { CheckpointOptions } from "./checkpoint-row.ts";
import { createCheckpoint } from "./create-checkpoint.ts";

const BY_HAND: CheckpointOptions = {
  ...{ trigger: "manual", intent: "try", name: "one", filesOnly: false, movesHead: true },
};

/** Takes a checkpoint of the session. */
function take(
  fake: FakeEngine,
  session = SESSION,
  { cancelAt, ...change }: Partial<CheckpointOptions> & { cancelAt?: Step } = {},
) {
  const options = { ...BY_HAND, ...change };
  return underLease(fake, () => createCheckpoint(session, options, fake.engine), cancelAt);
}

/** Nothing is recorded or left behind, nothing goes on in the background, and the session runs on. */
function expectNothingLeft({ engine, steps, logged }: FakeEngine, session = SESSION) {
  expect(steps.left()).toEqual([]);
  expect(engine.catalog.checkpoints()).toEqual(checkpointsOf(session));
  expect(engine.catalog.session("s1")).toEqual(session);
  expect(engine.live.get("s1")?.instanceId).toBe("s1-1");
  expect(steps.all).not.toContainEqual(
    expect.stringMatching(/^(stories|store.makeDurable|link.end)/),
  );
  expect(logged).toEqual([]);
}

test("a checkpoint is dumped while nobody is connected, recorded, and made durable behind the answer", async () => {
  const fake = engineWithSession(SESSION);

  const row = await take(fake);
  await fake.engine.background.idle();

  expect(fake.steps.all).toEqual([
    "store.shares.requireShare take a checkpoint",
    "store.space.flushIfDirty new",
    "contacts.settle s1-1",
    expect.stringMatching(/^memoryImages.makeRoom/),
    expect.stringMatching(/^store.prepareCheckpoint id1/),
    "warmMemory.makeWay 4096",
    "link.quiesce",
    "limits.liftCpu s1-1",
    "criu.dump s1-1",
    "limits.liftCpu is over",
    "link.resume",
    "warmMemory.fill",
    "store.images.settle",
    "warmMemory.note s1 4096",
    "store.writeManifest id1",
    "catalog.transaction",
    "catalog.insertCheckpoint",
    "catalog.updateSession s1",
    "decisions.capture s1-1 id1",
    "contacts.capture",
    "stories.schedule id1",
    "store.images.sum",
    "catalog.updateCheckpoint id1",
    "store.writeManifest id1",
    "store.makeDurable id1",
    "catalog.updateCheckpoint id1",
    "memoryImages.trim",
  ]);
  expect(row).toMatchObject({ id: "id1", content: "full", parent: "c2", stage: "captured" });
  expect(fake.engine.catalog.session("s1")?.head).toBe("id1");
  expect(fake.engine.catalog.checkpoint("id1")).toMatchObject({ stage: "durable" });
});

/** The steps of a checkpoint in which the daemon leaves a session, and comes back to it. */
function connections({ steps }: FakeEngine) {
  return steps.all.filter((step) => /^(link|criu.dump|warmMemory.note)/.test(step));
}

test.each(["before-restore", "before-stop", "before-merge"] as const)(
  "what something is done with right behind a checkpoint stays alone until that is whole, %s",
  async (trigger) => {
    const fake = engineWithSession(SESSION);

    await take(fake, SESSION, { trigger });

    expect(connections(fake)).toEqual([
      "link.quiesce",
      "criu.dump s1-1",
      "warmMemory.note s1 4096",
      "link.resume",
    ]);
  },
);

test("what happens behind the capture of a checkpoint is later than that; of a last one all is its own", async () => {
  const fake = engineWithSession(SESSION);
  const now = () => new Date().toISOString();
  const [captured, until]: [string[], string[]] = [[], []];
  fake.steps.answer("criu.dump", async ({ onCaptured }: { onCaptured: () => void }) => {
    onCaptured();
    const at = now();
    captured.push(at);
    while (now() === at);
    return { pauseMs: 5, memoryBytes: 4096 };
  });
  fake.steps.answer("decisions.capture", (_, __, moment: { until: string }) => {
    until.push(moment.until);
  });

  const row = await take(fake);
  const last = await take(fake, SESSION, { trigger: "before-stop", name: null });

  const [first = "", second = ""] = captured;
  expect(row.createdAt <= first && last.createdAt <= second).toBe(true);
  expect(until[0]).toBe(row.createdAt);
  expect(second < (until[1] ?? "")).toBe(true);
});

test("a second dump, where images were not whole, is taken of a session that is left again", async () => {
  const fake = engineWithSession(SESSION);
  const { journal } = fake.engine;
  const soFar = journal.soFar.bind(journal);
  vi.spyOn(journal, "soFar").mockImplementation((instance) => {
    fake.steps.note("link: commands so far");
    return soFar(instance);
  });
  let dumps = 0;
  fake.steps.answer("criu.isIncomplete", () => true);
  fake.steps.answer("criu.dump", async ({ onCaptured }: { onCaptured: () => void }) => {
    onCaptured();
    dumps += 1;
    if (dumps === 1) throw new Error("incomplete");
    return { pauseMs: 5, memoryBytes: 4096 };
  });

  await take(fake);

  expect(connections(fake)).toEqual([
    // Of captures that might have been shared.
    "link: commands so far",
    ...["link: commands so far", "link.quiesce", "criu.dump s1-1", "link.resume"],
    // What ran between them is in the second one.
    ...["link: commands so far", "link.quiesce", "criu.dump s1-1", "link.resume"],
    "warmMemory.note s1 4096",
  ]);
});

test("a session that ended behind its dump has no checkpoint, and is not left a second time", async () => {
  const fake = engineWithSession(SESSION);
  fake.steps.answer("criu.isIncomplete", () => true);
  fake.steps.answer("criu.dump", async ({ onCaptured }: { onCaptured: () => void }) => {
    onCaptured();
    throw new Error("incomplete");
  });
  fake.steps.answer("link.resume", async () => {
    throw new WaypointError("SESSION_ENDED", "It is gone.");
  });

  await expect(take(fake)).rejects.toMatchObject({ code: "SESSION_ENDED" });

  expect(connections(fake)).toEqual(["link.quiesce", "criu.dump s1-1", "link.resume"]);
});

test.each<Step>([
  "store.shares.requireShare",
  "store.space.flushIfDirty",
  "sandbox.isBindRemoved",
  "link.quiesce",
  "sandbox.treeMemoryBytes",
  "memoryImages.makeRoom",
  "store.prepareCheckpoint",
  "limits.liftCpu",
  "criu.dump",
  "store.images.settle",
  "store.writeManifest",
  "catalog.transaction",
  "catalog.insertCheckpoint",
  "catalog.updateSession",
])("a checkpoint whose %s fails leaves nothing, and the session runs on", async (step) => {
  const fake = engineWithSession(WITH_BIND);
  fake.steps.fail(step);

  const failing = take(fake, WITH_BIND);

  await expect(failing).rejects.toThrow(`${step} failed`);
  await fake.engine.background.idle();
  expectNothingLeft(fake, WITH_BIND);
});

test.each<Step>([
  "store.space.flushIfDirty",
  "link.quiesce",
  "store.prepareCheckpoint",
  "criu.dump",
])(
  "a checkpoint that is cancelled during %s leaves nothing, and the session runs on",
  async (step) => {
    const fake = engineWithSession(SESSION);

    const cancelled = take(fake, SESSION, { cancelAt: step });

    await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
    expectNothingLeft(fake);
  },
);

test("a session that ends during its dump leaves nothing of the checkpoint", async () => {
  const fake = engineWithSession(SESSION);
  fake.steps.fail("link.resume", new WaypointError("SESSION_ENDED", "It is gone."));

  await expect(take(fake)).rejects.toMatchObject({ code: "SESSION_ENDED" });

  expect(fake.steps.left()).toEqual(["quiet link"]);
  expect(fake.engine.catalog.checkpoints()).toEqual(checkpointsOf(SESSION));
});

test("what cannot be removed does not hide why a checkpoint failed", async () => {
  const fake = engineWithSession(SESSION);
  fake.steps.fail("criu.dump");
  fake.steps.fail("store.deleteCheckpoint");

  const error = await take(fake).catch(toWaypointError);

  expect(error).toMatchObject({ message: expect.stringContaining("criu.dump failed") });
});

test("a checkpoint of files alone disturbs nothing that runs", async () => {
  const fake = engineWithSession(SESSION);

  const row = await take(fake, SESSION, { filesOnly: true, movesHead: false });

  const touching = /^(link|criu|limits|memoryImages.makeRoom)/;
  expect(fake.steps.all).not.toContainEqual(expect.stringMatching(touching));
  expect(fake.steps.all).toContain("store.snapshotInstance s1-1 id1");
  expect(row).toMatchObject({ content: "files", terminal: null, imagesSums: null });
  expect(fake.engine.catalog.session("s1")?.head).toBe("c2");
});

test.each<Step>(["store.prepareCheckpoint", "store.snapshotInstance", "store.writeManifest"])(
  "a checkpoint of files alone whose %s fails leaves nothing",
  async (step) => {
    const fake = engineWithSession(SESSION);
    fake.steps.fail(step);

    await expect(take(fake, SESSION, { filesOnly: true })).rejects.toThrow(`${step} failed`);

    expectNothingLeft(fake);
  },
);

test("what is left before a restore or a stop may use what is kept free, whatever its share", async () => {
  const fake = engineWithSession(SESSION);
  fake.steps.fail("store.shares.requireShare");

  await take(fake, SESSION, { trigger: "before-stop" });

  expect(fake.steps.all[0]).toBe("store.space.flushIfDirty keeping");
});

test("a session without files has nothing to capture", async () => {
  const fake = engineWithSession(SESSION);
  const session = { ...SESSION, instance: null };

  const taken = take(fake, session, { filesOnly: true });

  await expect(taken).rejects.toMatchObject({ code: "SESSION_WRONG_STATE" });
  expectNothingLeft(fake);
});

test("a session whose memory is still on its way is dumped when it is there, and not where it is lost", async () => {
  const fake = engineWithSession(SESSION);
  fake.engine.filling.set("s1-1", Promise.resolve({ kind: "lost", reason: "killed" }));

  await expect(take(fake)).rejects.toMatchObject({ code: "SESSION_ENDED" });

  expectNothingLeft(fake);
  expect(fake.steps.all).not.toContain("link.quiesce");
});
