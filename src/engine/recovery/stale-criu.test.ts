import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { fakeEngine } from "../../../test/support/fake-engine.ts";
import { settleStaleCriu } from "./stale-criu.ts";

/** The tree that a CRIU of the last daemon dumps or restores. */
const TREE_PID = 5_000_000;

/** Runs a program in the place of a CRIU that the last daemon has left. */
async function leftBehind(tree: { treePid?: number | null; isHeld?: boolean; isKilled?: boolean }) {
  const { treePid = TREE_PID, isHeld = true, isKilled = false } = tree;
  const child = spawn("sleep", ["600"], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  const fake = fakeEngine();
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  fake.steps.answer("criu.findRunningCriu", () =>
    isRunning() ? [{ pid: child.pid, treePid }] : [],
  );
  fake.steps.answer("criu.isTreeHeld", () => isHeld);
  fake.steps.answer("criu.isTreeKilled", () => isKilled);
  return { ...fake, child };
}

test("a dump that is under way is let come to its end, however often it is looked at", async () => {
  const { engine, steps, child } = await leftBehind({});
  let looks = 0;
  steps.during("criu.findRunningCriu", () => {
    looks += 1;
    if (looks === 25) child.kill("SIGTERM");
  });

  await settleStaleCriu(engine);

  expect(child.signalCode).toBe("SIGTERM");
  expect(steps.all).toContain("criu.removeStaleMountRoots");
});

test.each([
  { what: "a restore", tree: { treePid: null } },
  { what: "a CRIU whose tree was killed", tree: { isKilled: true } },
  { what: "a CRIU that holds no tree for many looks", tree: { isHeld: false } },
])("$what is ended, since it waits for nobody", async ({ tree }) => {
  const { engine, steps, child } = await leftBehind(tree);

  await settleStaleCriu(engine);

  expect(child.signalCode).toBe("SIGKILL");
  expect(steps.all).toContain("criu.removeStaleMountRoots");
});
