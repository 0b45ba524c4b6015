import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { fakeEngine } from "../../../test/support/fake-engine.ts";
import type { PagesLeft } from "../../linux/criu/index.ts";
import type { WaypointError } from "../../shared/errors/index.ts";
import { fillAll, fillWhenIdle, keepMemory } from "./fill-memory.ts";

const PACE = { beginDelayMs: 0, lookIntervalMs: 1 };
const MEBIBYTE = 1024 ** 2;

/** Instances whose servers have 40 MiB to bring, and what was asked of these. */
function engineThatFills({ isTouchedOnly = false, change = {} } = {}) {
  const fake = fakeEngine(change);
  const leftBytes = new Map<string, number>();
  let asked = 0;
  let concurrency = 0;
  let concurrencyMax = 0;
  const left = (workDir: string): PagesLeft => {
    asked += 1;
    return { leftBytes: leftBytes.get(workDir) ?? 40 * MEBIBYTE, isTouchedOnly };
  };
  fake.steps.answer("criu.pagesLeft", async (workDir: string) => left(workDir));
  fake.steps.answer("criu.fillPages", async (workDir: string, bytes: number | null) => {
    concurrency += 1;
    concurrencyMax = Math.max(concurrencyMax, concurrency);
    await delay(1);
    concurrency -= 1;
    const before = left(workDir).leftBytes;
    leftBytes.set(workDir, bytes === null ? 0 : Math.max(0, before - bytes));
    return left(workDir);
  });
  const ended = new AbortController();
  const fill = (instanceId = "s1-1") =>
    fillWhenIdle(fake.live("s1", instanceId), ended.signal, fake.engine, PACE);
  const steps = () => fake.steps.all.filter((step) => step.startsWith("criu.fillPages"));
  return {
    ...fake,
    fill,
    steps: steps,
    all: fake.steps,
    ended,
    asked: () => asked,
    concurrencyMax: () => concurrencyMax,
  };
}

test("what nobody touches is brought in steps, of one session at a time", async () => {
  const fake = engineThatFills();

  await Promise.all([fake.fill("s1-1"), fake.fill("s2-1")]);

  expect(fake.steps()).toHaveLength(6);
  expect(fake.concurrencyMax()).toBe(1);
});

test("nothing is brought while somebody waits for something else", async () => {
  const fake = engineThatFills();
  fake.engine.turns.begin();
  const filling = fake.fill();
  await expect.poll(fake.asked).toBe(1);

  expect(fake.steps()).toEqual([]);

  fake.engine.turns.end();
  await filling;
  expect(fake.steps()).toHaveLength(3);
});

test.each([
  { where: "nothing is to come that nobody touches", options: { isTouchedOnly: true } },
  {
    where: "it would make memory short",
    options: { change: { availableMemoryBytes: () => 39 * MEBIBYTE } },
  },
])("where $where nothing is brought, and the server is looked at", async ({ options }) => {
  const fake = engineThatFills(options);

  const filling = fake.fill();
  await expect.poll(fake.asked).toBeGreaterThan(2);
  fake.ended.abort();
  await filling;

  expect(fake.steps()).toEqual([]);
});

test("at the engine's end nothing more is brought", async () => {
  const fake = engineThatFills();
  fake.engine.turns.open();

  await fake.fill();

  expect(fake.steps()).toEqual([]);
});

test.each([
  { when: "while nobody waits", act: "fill" },
  { when: "for a checkpoint", act: "all" },
])(
  "a server that does not answer $when is ended after the processes that wait for it",
  async (sample) => {
    const fake = engineThatFills();
    fake.all.fail("criu.fillPages", new Error("The pages server does not answer."));
    fake.all.answer("criu.pagesState", () => ({ kind: "filling", reason: "" }));

    if (sample.act === "fill") await fake.fill();
    else await fillAll(fake.live("s1", "s1-1"), fake.engine);

    expect(fake.all.all.slice(-2)).toEqual(["sandbox.killTree 70 7", "criu.endPagesServer s1-1"]);
    expect(fake.logged).toEqual(["a pages server takes too long"]);
  },
);

test("a server that has brought everything meanwhile is no failure", async () => {
  const fake = engineThatFills();
  fake.all.fail("criu.fillPages", new Error("The pages server has ended."));
  fake.all.answer("criu.pagesState", () => ({ kind: "whole", reason: "" }));

  await fake.fill();

  expect(fake.logged).toEqual([]);
});

test("a fork that is kept is told so, and one that is whole is not asked", async () => {
  const fake = engineThatFills({ isTouchedOnly: true });
  const live = fake.live("s1", "s1-1");
  fake.all.answer("criu.keepPages", async () => ({ leftBytes: 7, isTouchedOnly: false }));

  expect(await keepMemory(live, fake.engine)).toBe(0);
  fake.engine.filling.set(live.instanceId, new Promise(() => {}));
  expect(await keepMemory(live, fake.engine)).toBe(7);

  expect(fake.all.all.filter((step) => step.startsWith("criu.keepPages"))).toHaveLength(1);
});

test.each([
  { kind: "whole", outcome: "0" },
  { kind: "lost", outcome: "SESSION_ENDED" },
  { kind: "filling", outcome: "SESSION_UNRESPONSIVE" },
])("a server that is $kind and does not answer whoever keeps its fork is let be", async (given) => {
  const fake = engineThatFills();
  const live = fake.live("s1", "s1-1");
  fake.engine.filling.set(live.instanceId, new Promise(() => {}));
  fake.all.fail("criu.keepPages", new Error("The pages server has ended."));
  fake.all.answer("criu.pagesState", () => ({ kind: given.kind, reason: "" }));

  const outcome = await keepMemory(live, fake.engine).catch((error: WaypointError) => error.code);

  expect(String(outcome)).toBe(given.outcome);
  expect(fake.all.all.filter((step) => /killTree|endPagesServer/.test(step))).toEqual([]);
});
