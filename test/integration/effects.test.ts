import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { hashInput } from "../../src/portable/effects/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { runCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let session: Session;
const failsWith = (code: string) => expect.objectContaining({ code });
const waypoint = (...words: string[]) => runCommand(own.stateDir, words);

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "work", net: "none" });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Does an effect, and counts how often it is really done. */
function counted(options: Parameters<Session["effect"]>[1] = {}) {
  const done: string[] = [];
  const once = (at: Session, key: string) =>
    at.effect(key, options, async () => {
      done.push(key);
      return { receipt: `${key}-${done.length}` };
    });
  return { done, once };
}

test("after a restore the same key returns what came of it, and the preview has said so", async () => {
  const { done, once } = counted({
    input: { amount: 12 },
    describe: "charge 12",
    irreversible: true,
  });
  const before = await session.checkpoint({ name: "before" });
  expect(await once(session, "charge")).toEqual({ receipt: "charge-1" });
  const plan = await session.planRestore(before);
  expect(plan.effects).toMatchObject([{ key: "charge", state: "done", irreversible: true }]);
  const { stdout } = await waypoint("restore", "work", "before", "--dry-run");
  expect(stdout).toContain("Done outside since then, and it stays done:");
  expect(stdout).toContain("charge: charge 12 (irreversible)");

  await session.restore(before);
  expect(await once(session, "charge")).toEqual({ receipt: "charge-1" });
  expect(done).toEqual(["charge"]);
  expect((await session.effects({ since: before })).map(({ key }) => key)).toEqual(["charge"]);
  const after = await session.checkpoint();
  expect(await session.effects({ since: after })).toEqual([]);
  await expect(session.effect("charge", { input: { amount: 13 } }, async () => 1)).rejects.toEqual(
    failsWith("EFFECT_CONFLICT"),
  );
});

test("a checkpoint tells what was done outside on the way to it, and nothing else", async () => {
  const { once } = counted({ describe: "send a letter", irreversible: true });
  const at = await own.waypoint.new({ name: "letters", net: "none" });
  const tells = async (checkpoint: Checkpoint) =>
    (await checkpoint.show()).effects.map(({ key, state }) => [key, state]);
  await once(at, "first");
  const one = await at.checkpoint({ name: "one-letter" });
  expect(await tells(one)).toEqual([["first", "done"]]);
  const { stdout } = await waypoint("show", "one-letter");
  expect(stdout).toMatch(/Done outside\n.*\n.*first +done +send a letter +irreversible/);
  expect((await waypoint("show", "one-letter", "--json")).stdout).toContain('"effectsCount":1');
  expect(await tells(await at.checkpoint())).toEqual([]);

  await once(at, "second");
  const { undo } = await at.restore(one);
  await once(at, "third");
  const after = await at.checkpoint();
  expect(await tells(after)).toEqual([["third", "done"]]);
  const left = await own.waypoint.show(undo ?? "");
  expect(left.effects.map(({ key }) => key)).toEqual(["second"]);
  // What its origin did is no work of the fork.
  const [fork] = await after.fork(1, { name: "letters-2" });
  await once(fork, "fourth");
  expect(await tells(await fork.checkpoint())).toEqual([["fourth", "done"]]);
  await fork.remove({ force: true });
  await at.remove({ force: true });
});

test("a fork has the outcomes of its origin, or begins without them", async () => {
  const { done, once } = counted();
  await once(session, "mail");
  const [again] = await own.waypoint.fork("work", { name: "again" });
  const [anew] = await own.waypoint.fork("work", { name: "anew", effects: "own" });
  if (again === undefined || anew === undefined) throw new Error("no forks");
  expect(await once(again, "mail")).toEqual({ receipt: "mail-1" });
  expect(await once(anew, "mail")).toEqual({ receipt: "mail-2" });
  await once(again, "other");
  expect(done).toEqual(["mail", "mail", "other"]);
  expect((await session.effects()).map(({ key }) => key)).not.toContain("other");
  await again.remove({ force: true });
  await anew.remove({ force: true });
});

test("work that throws has failed, and the next call does it again", async () => {
  const failing = session.effect("flaky", {}, async () => {
    throw new Error("no route");
  });
  await expect(failing).rejects.toThrow("no route");
  expect((await session.effects()).at(-1)).toMatchObject({
    state: "failed",
    error: "Error: no route",
  });
  expect(await session.effect("flaky", {}, async () => "sent")).toBe("sent");
  expect((await session.effects()).at(-1)).toMatchObject({ state: "done", attempts: 2 });
});

test("a daemon that is killed while it is done learns the outcome all the same", async () => {
  const outcome = await session.effect("deploy", {}, async () => {
    await killDaemon(await own.daemonPid());
    return "v3";
  });
  expect(outcome).toBe("v3");
  expect(await session.effect("deploy", {}, async () => "again")).toBe("v3");
});

test("compensations run newest first; one that fails stops there, and nothing is restored", async () => {
  const at = await own.waypoint.new({ name: "undone", net: "none" });
  const before = await at.checkpoint({ name: "start" });
  const work = async () => "made";
  const order: unknown[] = [];
  await at.effect("one", { compensate: "echo one >> /srv/undone" }, work);
  await at.effect("two", { compensate: async (outcome) => order.push(outcome) }, work);
  await at.effect("stays", { irreversible: true }, work);
  await at.effect("three", { compensate: "echo three >> /srv/undone; test -e /srv/may" }, work);

  const refused = await waypoint("restore", "undone", "start", "--compensate", "--yes");
  expect(refused.exitCode).toBe(12);
  await expect(at.restore(before, { compensate: true })).rejects.toEqual(
    failsWith("EFFECT_NOT_COMPENSATED"),
  );
  expect(refused.stderr).toContain("still done: three, stays, two, one");
  expect((await at.effects()).at(-1)).toMatchObject({
    ...{ key: "three", state: "done", compensationError: expect.stringContaining("ended with 1") },
  });
  await at.exec("touch /srv/may");
  // The command line has no function of this program.
  const half = await waypoint("restore", "undone", "start", "--compensate", "--yes");
  expect(half.stderr).toContain("restore from that program");
  await at.restore(before, { compensate: true });
  expect(order).toEqual(["made"]);
  const states = (await at.effects()).map(({ key, state }) => [key, state]);
  expect(states).toEqual([
    ["one", "compensated"],
    ["two", "compensated"],
    ["stays", "done"],
    ["three", "compensated"],
  ]);
  expect((await at.exec("cat /srv/undone")).exitCode).not.toBe(0);
  expect(await at.effect("one", {}, async () => "made anew")).toBe("made anew");
  await at.remove({ force: true });
});

test("a compensation that throws is told with its reason, and all is as it was", async () => {
  const at = await own.waypoint.new({ name: "refused", net: "none" });
  const before = await at.checkpoint();
  await at.exec("echo changed > /srv/file");
  const compensate = async () => {
    throw new Error("the refund was refused");
  };
  await at.effect("pay", { compensate }, async () => "paid");
  await expect(at.restore(before, { compensate: true })).rejects.toMatchObject({
    code: "EFFECT_NOT_COMPENSATED",
    message: expect.stringContaining("the refund was refused"),
    detail: { key: "pay", left: ["pay"] },
  });
  expect((await at.effects())[0]).toMatchObject({
    ...{ state: "done", outcome: "paid", compensationError: "the refund was refused" },
  });
  expect((await at.exec("cat /srv/file")).stdout).toBe("changed\n");
  const stop = AbortSignal.abort();
  await expect(at.restore(before, { compensate: true, signal: stop })).rejects.toEqual(
    failsWith("CANCELLED"),
  );
  await at.remove({ force: true });
});

test("two runs at once: one does it, the other is told", async () => {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const first = session.effect("publish", {}, async () => {
    begun.resolve();
    await end.promise;
    return 1;
  });
  await begun.promise;
  await expect(session.effect("publish", {}, async () => 2)).rejects.toEqual(
    failsWith("EFFECT_RUNNING"),
  );
  end.resolve();
  expect(await first).toBe(1);
});

test("of what nobody knows a person or a function says what became of it", async () => {
  const { done, once } = counted();
  await beginAndDie("lost-1");
  await beginAndDie("lost-2");
  await expect(once(session, "lost-1")).rejects.toEqual(failsWith("EFFECT_UNKNOWN"));
  expect((await waypoint("effects", "work")).stdout).toMatch(/lost-1 +unknown/);
  await waypoint("effects", "settle", "work", "lost-1", "done", "--outcome", '{"id":3}');
  expect(await once(session, "lost-1")).toEqual({ id: 3 });
  const recover = async () => undefined;
  expect(await session.effect("lost-2", { recover }, async () => "done now")).toBe("done now");
  expect(done).toEqual([]);
});

/** Begins an effect as a program that has died since: no process has these facts. */
async function beginAndDie(key: string): Promise<void> {
  await callOperation(own.stateDir, "effect.begin", {
    ...{ session: "work", key, inputHash: hashInput(null), what: key },
    owner: { pid: 2 ** 21, startTicks: 1 },
  });
}
