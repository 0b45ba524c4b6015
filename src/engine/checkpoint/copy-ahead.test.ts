import { expect, test } from "vitest";
import type { FakeEngine, Step } from "../../../test/support/fake-engine.ts";
import { checkpointRow, sessionRow } from "../../../test/support/fake-rows.ts";
import { engineWithSession, SESSION } from "../../../test/support/fake-session.ts";
import { copyAhead } from "./copy-ahead.ts";

const MEBIBYTE = 1024 ** 2;
/** The names of steps end one part earlier. */
const ahead = (method: "find" | "prepare" | "remove") => `store.images.ahead.${method}` as Step;

/** An engine with a session of 256 MiB whose writes are followed since no checkpoint. */
function engineWithUncopied() {
  const fake = engineWithSession(SESSION);
  const { engine, steps } = fake;
  Object.assign(engine.settings, {
    trackMemory: { bytesMin: 0, aheadBytesMin: 128 * MEBIBYTE, compares: false },
  });
  steps.answer("sandbox.treeMemoryBytes", () => 256 * MEBIBYTE);
  steps.answer("criu.trackedSince", async () => null);
  steps.answer("store.images.hasRoomFor", () => true);
  steps.answer("memoryImages.makeRoom", async () => {});
  steps.answer(ahead("prepare"), async () => ({ copyDir: "/copy", scratchDir: "/scratch" }));
  steps.answer(ahead("remove"), async () => {});
  steps.answer("criu.protectAhead", async () => ({ pauseMs: 5 }));
  steps.answer("criu.copyAhead", async () => ({ copiedBytes: 256 * MEBIBYTE }));
  steps.answer("link.quiesce", async () => {});
  steps.answer("link.resume", async () => {});
  steps.forget();
  return fake;
}

const copy = ({ engine, live }: FakeEngine) =>
  copyAhead(sessionRow(), live("s1", "s1-1"), "new", engine);
const ORDER = /^(criu\.(protect|copy)Ahead|link\.|store\.images\.ahead|memoryImages)/;
const stepsOf = ({ steps }: FakeEngine) =>
  steps.all
    .filter((step) => ORDER.test(step))
    .map((step) => step.replace(/ (?!fails).*?(?= fails|$)/, ""));

const PROTECTED = ["memoryImages.makeRoom", ahead("prepare"), "link.quiesce"];

test("memory is protected without connections, and copied when they are back", async () => {
  const fake = engineWithUncopied();

  const copied = await copy(fake);

  expect(copied.pauseMs).toBe(5);
  const copying = [...PROTECTED, "criu.protectAhead", "link.resume", "criu.copyAhead"];
  expect(stepsOf(fake)).toEqual(copying);
  await copied[Symbol.asyncDispose]();
  expect(stepsOf(fake)).toEqual([...copying, ahead("remove")]);
});

test.each<{ step: Step; pauseMs: number; after: string[] }>([
  { step: ahead("prepare"), pauseMs: 0, after: [] },
  { step: "link.quiesce", pauseMs: 0, after: [] },
  { step: "criu.protectAhead", pauseMs: 0, after: ["link.resume"] },
  { step: "link.resume", pauseMs: 0, after: [] },
  { step: "criu.copyAhead", pauseMs: 5, after: [] },
])("where $step fails the copy is removed, and the checkpoint goes on", async (given) => {
  const fake = engineWithUncopied();
  fake.steps.fail(given.step);

  const copied = await copy(fake);

  expect(copied.pauseMs).toBe(given.pauseMs);
  const done = stepsOf(fake);
  const failed = done.indexOf(`${given.step} fails`);
  expect(done.slice(failed)).toEqual([`${given.step} fails`, ...given.after, ahead("remove")]);
  expect(fake.logged).toEqual(["memory is not copied before the pause"]);
});

test("a copy that cannot be removed after its use does not fail the checkpoint", async () => {
  const fake = engineWithUncopied();
  fake.steps.fail(ahead("remove"));

  const copied = await copy(fake);
  await copied[Symbol.asyncDispose]();

  expect(fake.logged).toEqual(["a copy before the pause is left behind"]);
});

test("half a copy that cannot be removed is nobody's reference: the checkpoint fails", async () => {
  const fake = engineWithUncopied();
  fake.steps.fail("criu.copyAhead");
  fake.steps.fail(ahead("remove"));

  await expect(copy(fake)).rejects.toThrow("remove");
});

test("where room cannot be made the checkpoint goes on", async () => {
  const fake = engineWithUncopied();
  fake.steps.fail("memoryImages.makeRoom");

  expect((await copy(fake)).pauseMs).toBe(0);
  expect(fake.logged).toEqual(["memory is not copied before the pause"]);
});

test.each([
  {
    where: "there is no room",
    change: ({ steps }: FakeEngine) => steps.answer("store.images.hasRoomFor", () => false),
  },
  {
    where: "nothing is followed",
    change: ({ engine }: FakeEngine) => Object.assign(engine.settings, { trackMemory: null }),
  },
  {
    where: "there is little memory",
    change: ({ steps }: FakeEngine) => steps.answer("sandbox.treeMemoryBytes", () => MEBIBYTE),
  },
  {
    where: "the tracker cannot be started",
    change: ({ steps }: FakeEngine) => steps.fail("criu.trackedSince"),
  },
  {
    where: "there is a reference",
    change: ({ engine, steps }: FakeEngine) => {
      engine.catalog.insertCheckpoint(checkpointRow({ id: "base" }));
      steps.answer("criu.trackedSince", async () => "base");
      steps.answer("store.images.isInStore", () => false);
    },
  },
])("where $where nothing is protected, and nothing made", async ({ change }) => {
  const fake = engineWithUncopied();
  change(fake);

  const copied = await copy(fake);
  await copied[Symbol.asyncDispose]();

  expect(copied.pauseMs).toBe(0);
  expect(stepsOf(fake).filter((step) => step !== "memoryImages.makeRoom")).toEqual([]);
});
