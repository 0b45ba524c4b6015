import { expect, test } from "vitest";
import { fakeEngine } from "../../../test/support/fake-engine.ts";
import type { TerminalState } from "../../linux/terminal/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { TerminalFit } from "./terminal-fit.ts";

const SIZE = { columns: 80, rows: 24 };
const TERMINAL = { id: 1, cols: 80, rows: 24 } as TerminalState;

function attached(terminal = TERMINAL) {
  const { engine, steps, live } = fakeEngine();
  const instance = live("s1", "i1");
  engine.live.set(instance);
  const fit = new TerminalFit("s1", SIZE, engine);
  const fitted = (isFullScreen: boolean) => fit.fit(instance, terminal, isFullScreen);
  return { engine, steps, instance, fit, fitted };
}

test("a shell's terminal is given the client's size once, and waits for nothing", async () => {
  const { steps, fitted } = attached();
  await fitted(false);
  expect(steps.all).toEqual(["link.resize 1 80 24"]);
});

test("a program that owns a screen of the same size is given another one for a moment", async () => {
  const { steps, fit, fitted } = attached();
  const done = fitted(true);
  fit.hurry();
  await done;
  expect(steps.all).toEqual(["link.resize 1 80 23", "link.resize 1 80 24"]);
});

test("a program that owns the screen has printed, and then nothing more, when it counts as fitted", async () => {
  const { steps, fit, fitted } = attached({ ...TERMINAL, rows: 30 });
  const prints = ["first", "second", "third"];
  const printed: string[] = [];
  steps.during("link.resize", () => {
    const print = () => {
      const next = prints.shift();
      if (next === undefined) return;
      printed.push(next);
      fit.printed();
      setImmediate(print);
    };
    setImmediate(print);
  });
  await fitted(true);
  expect(steps.all).toEqual(["link.resize 1 80 24"]);
  expect(printed).toEqual(["first", "second", "third"]);
});

test("two clients get what both can show; the one who stays gets all when the other leaves", async () => {
  const { engine, steps, fit, fitted } = attached();
  const other = new TerminalFit("s1", { columns: 60, rows: 40 }, engine);
  other.join();
  await fitted(false);
  await other.leave();
  await fit.leave();
  expect(steps.all).toEqual(["link.resize 1 60 24", "link.resize 1 80 24"]);
});

test("a client that leaves while a program is waited for is attached no longer", async () => {
  const { engine, fit, fitted } = attached();
  const done = fitted(true);
  fit.hurry();
  await fit.leave();
  await done;
  expect(engine.live.attachedCount("s1")).toBe(0);
});

test("a terminal that is gone needs no size; any other failure is told", async () => {
  const gone = attached();
  gone.steps.fail("link.resize", new WaypointError("SESSION_ENDED", "The terminal is gone."));
  await expect(gone.fitted(false)).resolves.toBeUndefined();

  const broken = attached();
  broken.steps.fail("link.resize", new Error("broken"));
  await expect(broken.fitted(false)).rejects.toThrow("broken");
});
