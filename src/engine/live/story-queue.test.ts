import { expect, test } from "vitest";
import { StoryQueue } from "./story-queue.ts";

/** A queue whose stories are built when the test says so. */
function queueOf(ids: readonly string[]) {
  const queue = new StoryQueue();
  const built: string[] = [];
  const gates = new Map(ids.map((id) => [id, Promise.withResolvers<void>()]));
  for (const id of ids) {
    queue.schedule(id, async (signal) => {
      const given = new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      await Promise.race([gates.get(id)?.promise, given]);
      built.push(signal.aborted ? `${id} given up` : id);
    });
  }
  return { queue, built, open: (id: string) => gates.get(id)?.resolve() };
}

test("one story is built at a time, and one that is waited for goes first", async () => {
  const { queue, built, open } = queueOf(["a", "b", "c"]);
  const waiting = queue.ready("c", 10_000);
  for (const id of ["a", "c"]) open(id);

  await waiting;
  expect(built).toEqual(["a", "c"]);
  open("b");
  await queue.ready("b", 10_000);
  expect(built).toEqual(["a", "c", "b"]);
});

test("a story that is asked for twice is built once", async () => {
  const { queue, built, open } = queueOf(["a"]);
  queue.schedule("a", async () => void built.push("again"));
  open("a");

  await queue.ready("a", 10_000);
  expect(built).toEqual(["a"]);
});

test("nobody waits longer than they want to", async () => {
  const { queue, built } = queueOf(["a"]);

  await queue.ready("a", 1);
  await queue.caughtUp(1);

  expect(built).toEqual([]);
  await queue.stop();
});

test("cancelling gives up the story that is built, or forgets one that waits", async () => {
  const { queue, built, open } = queueOf(["a", "b", "c"]);

  await queue.cancel("b");
  await queue.cancel("a");
  open("c");
  await queue.ready("c", 10_000);

  expect(built).toEqual(["a given up", "c"]);
});

test("a queue that was stopped builds nothing more", async () => {
  const { queue, built } = queueOf(["a", "b"]);

  await queue.stop();
  queue.schedule("late", async () => void built.push("late"));
  await queue.ready("late", 10_000);

  expect(built).toEqual(["a given up"]);
});

test("beside a removal no story is begun; one that has not said what it reads is built anew", async () => {
  const { queue, built, open } = queueOf(["a", "b"]);

  await queue.whileNotRead(["x"], async () => {
    expect(built).toEqual(["a given up"]);
    queue.schedule("c", async () => void built.push("c"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(built).toEqual(["a given up"]);
  });
  for (const id of ["a", "b"]) open(id);

  await queue.ready("a", 10_000);
  await queue.caughtUp(10_000);
  expect(built).toEqual(["a given up", "a", "b", "c"]);
});

test("a story goes on beside the removal of what it does not read, and is built anew after that of what it does", async () => {
  const queue = new StoryQueue();
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  queue.schedule("a", async (signal, reads) => {
    begun += 1;
    reads(["a", "parent"]);
    const given = new Promise((resolve) => signal.addEventListener("abort", resolve));
    await Promise.race([gate.promise, given]);
  });

  await queue.whileNotRead(["other"], async () => {});
  expect(begun).toBe(1);
  await queue.whileNotRead(["other", "parent"], async () => {});
  expect(begun).toBe(2);

  gate.resolve();
  await queue.ready("a", 10_000);
  expect(begun).toBe(2);
});
