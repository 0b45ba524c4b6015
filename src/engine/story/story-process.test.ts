import process from "node:process";
import { afterEach, expect, test, vi } from "vitest";
import { type Logger, startProgram } from "../../base/index.ts";
import { StoryOverBudget } from "./story-budget.ts";
import { StoryProcess } from "./story-process.ts";

/** Stands for the program: what it does follows from the name of the checkpoint. */
const PROGRAM = `
const { createInterface } = require("node:readline");
const say = (line) => process.stdout.write(JSON.stringify(line) + "\\n");
createInterface({ input: process.stdin }).on("line", (text) => {
  const { number, build } = JSON.parse(text);
  if (build === "dies") process.abort();
  if (build === "hangs") for (;;);
  if (build === "fails") say({ number, error: { code: "CHECKPOINT_INCOMPLETE", message: "gone" } });
  if (build === "large") say({ number, overBudget: "too large" });
  if (build === undefined) process.exit(0);
  if (build.startsWith("ok")) say({ number, story: { checkpoint: build, pid: process.pid } });
});`;

const LOGGER: Logger = { info: () => {}, warn: () => {}, error: () => {} };
const opened: StoryProcess[] = [];
const never = new AbortController().signal;

function open(options: { timeMsMax?: number; clearAway?: () => void } = {}): StoryProcess {
  const argv: [string, ...string[]] = [process.execPath, "-e", PROGRAM];
  const stories = new StoryProcess({
    ...{ start: () => startProgram(argv), logger: LOGGER, clearAway: () => {} },
    ...options,
  });
  opened.push(stories);
  return stories;
}

afterEach(async () => {
  for (const stories of opened.splice(0)) await stories.close();
});

test("one process builds one story after the other, also several at once", async () => {
  const stories = open();

  const [one, two] = await Promise.all([
    stories.build("ok 1", never),
    stories.build("ok 2", never),
  ]);
  const three = await stories.build("ok 3", never);

  expect([one, two, three].map(({ checkpoint }) => checkpoint)).toEqual(["ok 1", "ok 2", "ok 3"]);
  expect(one).toMatchObject({ pid: (three as unknown as { pid: number }).pid });
});

test("a process that dies took too much; what it left is cleared away, and the next story is built", async () => {
  const clearAway = vi.fn();
  const stories = open({ clearAway });

  await expect(stories.build("dies", never)).rejects.toThrow(StoryOverBudget);
  expect(clearAway).toHaveBeenCalledOnce();
  expect(await stories.build("ok", never)).toMatchObject({ checkpoint: "ok" });
});

test("a story that takes too long is ended with its process, however busy that is", async () => {
  const stories = open({ timeMsMax: 1_000 });

  await expect(stories.build("hangs", never)).rejects.toThrow("it took longer than 1 s");
  expect(await stories.build("ok", never)).toMatchObject({ checkpoint: "ok" });
});

test("what the process says of a story comes back as it is", async () => {
  const stories = open();

  await expect(stories.build("fails", never)).rejects.toMatchObject({
    code: "CHECKPOINT_INCOMPLETE",
  });
  await expect(stories.build("large", never)).rejects.toThrow(StoryOverBudget);
});

test("a story that is given up ends, also where its process does not listen", async () => {
  const stories = open();
  const controller = new AbortController();
  const building = stories.build("hangs", controller.signal);

  controller.abort();

  await expect(building).rejects.toMatchObject({ code: "CANCELLED" });
  await expect(stories.build("ok", controller.signal)).rejects.toMatchObject({ code: "CANCELLED" });
});

test("a program that is not there is no story, and no crash", async () => {
  const argv: [string] = ["/nowhere/at-all"];
  const start = () => startProgram(argv);
  const stories = new StoryProcess({ start, logger: LOGGER, clearAway: () => {} });
  opened.push(stories);

  await expect(stories.build("ok", never)).rejects.toThrow(/ENOENT/);
});
