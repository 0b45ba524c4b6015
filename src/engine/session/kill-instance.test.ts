import { expect, test } from "vitest";
import { engineWithSession, SESSION } from "../../../test/support/fake-session.ts";
import { cutShort } from "./kill-instance.ts";

test("that a session is cut short is noted before the first of its processes ends", () => {
  const { engine, steps } = engineWithSession(SESSION);
  let notedThen: string | null | undefined;
  steps.during("sandbox.haltTree", () => {
    notedThen = engine.catalog.instance("s1-1")?.endedFor;
  });

  cutShort(SESSION, "removed", engine);

  expect(notedThen).toBe("removed");
  expect(engine.live.get("s1")).toBeUndefined();
  // Whoever is attached is told when it is removed.
  expect(engine.catalog.session("s1")?.state).toBe("running");
});

test("its processes end also where that cannot be noted", () => {
  const { engine, steps } = engineWithSession(SESSION);
  steps.fail("catalog.updateInstance");

  cutShort(SESSION, "removed", engine);

  expect(steps.all).toContain("sandbox.haltTree 70 7");
});
