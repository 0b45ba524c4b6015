import { expect, test } from "vitest";
import { engineWithSession, SESSION } from "../../../test/support/fake-session.ts";
import type { LiveInstance } from "../live/index.ts";
import { noteQuickState, quickChanges } from "./quick-change-check.ts";

const FILES = { transaction: 1n, changedAtMs: 0 };

/** A session that takes automatic checkpoints, how long it has run, and how much it was asked for. */
function sessionAtRest() {
  const fake = engineWithSession(SESSION);
  const seen = { ranTicks: 5 };
  const link = { requestCount: 0 };
  Object.assign(fake.engine.settings, { autoDefault: "hybrid" });
  fake.steps.answer("sandbox.treeFingerprint", () => ({ processes: "1 /", ...seen }));
  fake.steps.answer("store.filesStateOf", () => FILES);
  fake.steps.answer("store.filesState", () => FILES);
  const live = { ...fake.live("s1", "s1-1"), link } as unknown as LiveInstance;
  return { engine: fake.engine, live, seen, link };
}

test("what a dump makes a session run is no change, also behind the pause", async () => {
  const { engine, live, seen } = sessionAtRest();
  const look = noteQuickState(SESSION, live, engine);
  seen.ranTicks = 6;
  look.captured();
  seen.ranTicks = 7;
  look.keep("c3");

  expect(await quickChanges(live, engine)).toEqual({ hasChanged: false, hasRun: false });
});

test("a command that runs before the images are complete has changed what they hold", async () => {
  const { engine, live, seen, link } = sessionAtRest();
  const look = noteQuickState(SESSION, live, engine);
  look.captured();
  link.requestCount += 1;
  seen.ranTicks = 7;
  look.keep("c3");

  expect(await quickChanges(live, engine)).toEqual({ hasChanged: false, hasRun: true });
});
