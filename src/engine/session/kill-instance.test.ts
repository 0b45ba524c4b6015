import { expect, test } from "vitest";
import { engineWithSession, SESSION } from "../../../test/support/fake-session.ts";
import { cutShort } from "./kill-instance.ts";

test("a session that is cut short is noted as stopped before the first of its processes ends", () => {
  const { engine, steps } = engineWithSession(SESSION);
  let stateThen: string | undefined;
  steps.during("sandbox.haltTree", () => {
    stateThen = engine.catalog.session("s1")?.state;
  });

  cutShort(SESSION, "removed", engine);

  expect(stateThen).toBe("stopped");
  expect(engine.live.get("s1")).toBeUndefined();
});

test("a session that has ended stays noted so", () => {
  const { engine } = engineWithSession({ ...SESSION, state: "ended" });

  cutShort({ ...SESSION, state: "ended" }, "removed", engine);

  expect(engine.catalog.session("s1")?.state).toBe("ended");
});

test("its processes end also where that cannot be noted", () => {
  const { engine, steps } = engineWithSession(SESSION);
  steps.fail("catalog.quickTransaction");

  cutShort(SESSION, "removed", engine);

  expect(steps.all).toContain("sandbox.haltTree 70 7");
});
