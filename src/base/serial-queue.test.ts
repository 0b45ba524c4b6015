import { expect, test } from "vitest";
import { SerialQueues } from "./serial-queue.ts";

test("tasks of one key run one after the other, those of another beside them", async () => {
  const queues = new SerialQueues();
  const events: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = queues.run("a", async () => {
    events.push("a1 begins");
    await gate.promise;
    events.push("a1 ends");
  });
  const second = queues.run("a", async () => {
    events.push("a2");
  });
  await queues.run("b", async () => {
    events.push("b");
  });

  gate.resolve();
  await Promise.all([first, second]);

  expect(events).toEqual(["a1 begins", "b", "a1 ends", "a2"]);
});

test("a task that fails does not stop those behind it, and its caller hears of it", async () => {
  const queues = new SerialQueues();
  const failing = queues.run("a", () => Promise.reject(new Error("broken")));
  const next = queues.run("a", () => Promise.resolve("done"));

  await expect(failing).rejects.toThrow("broken");
  await expect(next).resolves.toBe("done");
});

test("idle waits for all that was known", async () => {
  const queues = new SerialQueues();
  let ended = 0;
  const task = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    ended += 1;
  };
  void queues.run("a", task);
  void queues.run("a", task);
  void queues.run("b", task);

  await queues.idle();

  expect(ended).toBe(3);
});

test("a task that is cancelled before its turn leaves the queue at once and never runs", async () => {
  const queues = new SerialQueues();
  const gate = Promise.withResolvers<void>();
  const first = queues.run("a", () => gate.promise);
  const cancel = new AbortController();
  let hasRun = false;
  const second = queues.run(
    "a",
    async () => {
      hasRun = true;
    },
    cancel.signal,
  );
  const third = queues.run("a", () => Promise.resolve("third"));

  cancel.abort(new Error("cancelled"));

  await expect(second).rejects.toThrow("cancelled");
  gate.resolve();
  await first;
  expect(await third).toBe("third");
  expect(hasRun).toBe(false);
});

test("a task that runs learns that it was cancelled, and the one behind it does not", async () => {
  const queues = new SerialQueues();
  const cancel = new AbortController();
  const first = queues.run(
    "a",
    async () => {
      cancel.abort(new Error("cancelled"));
      queues.throwIfCancelled("a");
    },
    cancel.signal,
  );
  const second = queues.run("a", async () => queues.throwIfCancelled("a"));

  await expect(first).rejects.toThrow("cancelled");
  await expect(second).resolves.toBeUndefined();
});

test("a task that was cancelled before it came to the queue does not wait there", async () => {
  const queues = new SerialQueues();
  const gate = Promise.withResolvers<void>();
  const first = queues.run("a", () => gate.promise);
  const signal = AbortSignal.abort(new Error("cancelled"));

  await expect(queues.run("a", () => Promise.resolve(), signal)).rejects.toThrow("cancelled");
  gate.resolve();
  await first;
});

test("after each task its end is told, however it ended", async () => {
  let ended = 0;
  const queues = new SerialQueues(() => {
    ended += 1;
  });

  await queues.run("a", async () => {});
  await queues.run("b", () => Promise.reject(new Error("broken"))).catch(() => {});

  expect(ended).toBe(2);
});
