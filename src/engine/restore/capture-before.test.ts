import { expect, test } from "vitest";
import type { FakeEngine } from "../../../test/support/fake-engine.ts";
import { engineWithSession, SESSION } from "../../../test/support/fake-session.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { captureBefore } from "./capture-before.ts";

const REFUSED = new WaypointError("CRIU_DUMP_FAILED", "A process was refused.");
const FULL = new WaypointError("STORE_FULL", "There is no room.", { hint: "Remove some." });

function capture({ engine }: FakeEngine, loss: { loseProcesses?: boolean; withoutUndo?: boolean }) {
  const all = { loseProcesses: false, withoutUndo: false, ...loss };
  return captureBefore(SESSION, { intent: "before", movesHead: false }, all, engine);
}

test("what CRIU refuses is captured as files alone where the processes are given up", async () => {
  const fake = engineWithSession(SESSION);
  fake.steps.fail("criu.dump", REFUSED);

  const before = await capture(fake, { loseProcesses: true });

  expect(before).toMatchObject({ content: "files", trigger: "before-restore" });
  expect(fake.engine.catalog.checkpoints("s1")).toHaveLength(3);
  // What was begun of the first one is gone.
  expect(fake.steps.left()).toEqual([`checkpoint ${before?.id}`]);
});

test("what does not answer is captured as files alone where the processes are given up", async () => {
  const fake = engineWithSession(SESSION);
  fake.steps.fail("link.quiesce", new WaypointError("SESSION_UNRESPONSIVE", "It hangs."));

  expect(await capture(fake, { loseProcesses: true })).toMatchObject({ content: "files" });
});

test.each([
  [REFUSED, /--lose-processes/],
  [FULL, /^Remove some[.] .*--without-undo/],
])("%s says the way out, and nothing is left", async (error, hint) => {
  const fake = engineWithSession(SESSION);
  fake.steps.fail("criu.dump", error);

  const failing = capture(fake, {});

  const { code } = error;
  await expect(failing).rejects.toMatchObject({ code, hint: expect.stringMatching(hint) });
  expect(fake.steps.left()).toEqual([]);
});

test("a full store is no reason to give the processes up", async () => {
  const fake = engineWithSession(SESSION);
  fake.steps.answer("store.prepareCheckpoint", async () => "/checkpoints/images");
  fake.steps.fail("criu.dump", FULL);

  await expect(capture(fake, { loseProcesses: true })).rejects.toMatchObject({
    code: "STORE_FULL",
  });
});

test("nothing is captured for whoever wants no undo", async () => {
  const fake = engineWithSession(SESSION);

  expect(await capture(fake, { withoutUndo: true })).toBeNull();

  expect(fake.steps.all).toEqual([]);
});
