import { expect, test } from "vitest";
import type { Step } from "../../../test/support/fake-engine.ts";
import { checkpointRow } from "../../../test/support/fake-rows.ts";
import { engineWithSession, SESSION } from "../../../test/support/fake-session.ts";
import type { InitLink } from "../../linux/terminal/index.ts";
import { unparkFor } from "./unpark.ts";

const HEAD = checkpointRow({ id: "c2", parent: "c1" });

/** Builds an engine with one standby, whose first process will answer as `link` says. */
function withStandby(link?: Promise<InitLink>) {
  const fake = engineWithSession(SESSION);
  const { engine, steps } = fake;
  engine.catalog.insertInstance({ id: "p1-1", session: "p1", pid: 81, startTicks: 7 });
  const parked = {
    ...{ instanceId: "p1-1", pid: 81, startTicks: 7, terminalId: 1 },
    ...{ checkpointId: "c2", origin: "made", memoryBytes: 4096, parkedAtMs: 0 },
    link: link ?? Promise.resolve(fake.live("p1", "p1-1").link),
  };
  steps.answer("standbys.take", () => parked);
  steps.forget();
  return fake;
}

test("a standby is let go, and handed out when its first process has answered", async () => {
  const { engine, steps } = withStandby();

  const unparked = await unparkFor(HEAD, ["made"], engine);

  expect(unparked).toMatchObject({ instanceId: "p1-1", pid: 81, terminalId: 1 });
  expect(steps.all).toEqual(["standbys.take c2", "freezer.thaw p1-1"]);
});

test("where there is no standby, nothing is done", async () => {
  const { engine, steps } = withStandby();
  steps.answer("standbys.take", () => null);

  expect(await unparkFor(HEAD, ["made"], engine)).toBeNull();

  expect(steps.all).toEqual(["standbys.take c2"]);
});

test("a standby that does not answer is removed, and whoever asked goes on without", async () => {
  const { engine, steps, logged } = withStandby(Promise.reject(new Error("ended")));

  expect(await unparkFor(HEAD, ["made"], engine)).toBeNull();

  expect(engine.catalog.instance("p1-1")).toBeUndefined();
  expect(steps.all).toContain("sandbox.killTree 81 7");
  expect(steps.all).toContain("store.deleteInstance p1-1");
  expect(logged).toEqual(["a standby did not answer"]);
});

test.each<Step>([
  ...(["sandbox.killTree", "sandbox.unmountRoot", "network.remove"] as const),
  ...(["freezer.remove", "limits.remove", "store.deleteInstance"] as const),
])(
  "a standby that cannot be let go, and whose %s fails, keeps its row for the next daemon",
  async (step) => {
    const { engine, steps, logged } = withStandby();
    steps.fail("freezer.thaw");
    steps.fail(step);

    expect(await unparkFor(HEAD, ["made"], engine)).toBeNull();

    expect(engine.catalog.instance("p1-1")).toBeDefined();
    expect(logged).toEqual(["a standby did not answer", "end a standby"]);
  },
);
