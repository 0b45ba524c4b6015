import { expect, test } from "vitest";
import { hasCode } from "../../shared/errors/index.ts";
import { VerificationRuns } from "./verification-runs.ts";

const MEBIBYTE = 1024 ** 2;
const { signal } = new AbortController();

function checkpoint(id: string, mebibytes: number) {
  return { id, memoryBytes: mebibytes * MEBIBYTE };
}

function runsWith(mebibytes: number) {
  return new VerificationRuns({ reserveBytes: 0, availableBytes: () => mebibytes * MEBIBYTE });
}

test("a run waits until there is memory for it beside the others", async () => {
  const runs = runsWith(100);
  const events: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = runs.run(checkpoint("a", 60), signal, async () => {
    events.push("a begins");
    await gate.promise;
    events.push("a ends");
  });
  const second = runs.run(checkpoint("b", 60), signal, async () => void events.push("b begins"));
  const third = runs.run(checkpoint("c", 1), signal, async () => void events.push("c begins"));

  gate.resolve();
  await Promise.all([first, second, third]);

  expect(events).toEqual(["a begins", "a ends", "b begins", "c begins"]);
});

test("memory that a fork has already is not counted twice", async () => {
  const runs = runsWith(100);
  const gate = Promise.withResolvers<void>();
  const first = runs.run(checkpoint("a", 60), signal, async ({ isThere }) => {
    isThere(false);
    await gate.promise;
  });

  await runs.run(checkpoint("b", 60), signal, () => Promise.resolve());

  gate.resolve();
  await first;
});

test("a fork that gets what it touches is promised a quarter of its memory", async () => {
  const mebibytes = (count: number) => count * 1024 ** 2;
  const runs = runsWith(mebibytes(100));
  const gate = Promise.withResolvers<void>();
  const events: string[] = [];
  const first = runs.run(checkpoint("a", mebibytes(80)), signal, async ({ isThere }) => {
    isThere(true);
    await gate.promise;
    events.push("a ends");
  });

  // A fork needs 8 MiB of its own: 20 are promised, 72 and 8 fit beside them, 73 and 8 do not.
  await runs.run(checkpoint("b", mebibytes(72)), signal, async () => void events.push("b"));
  const third = runs.run(checkpoint("c", mebibytes(73)), signal, async () => void events.push("c"));
  gate.resolve();
  await Promise.all([first, third]);

  expect(events).toEqual(["b", "a ends", "c"]);
});

test("one that has too little memory even alone is refused", async () => {
  const outcome = runsWith(10).run(checkpoint("a", 60), signal, () => Promise.resolve());

  await expect(outcome).rejects.toSatisfy((error) => hasCode(error, "MEMORY_SHORT"));
});

test("removing a checkpoint gives up its runs alone, waiting ones too", async () => {
  const runs = runsWith(100);
  const gate = Promise.withResolvers<void>();
  const endless = (run: { signal: AbortSignal }) =>
    new Promise<void>((_, reject) => {
      run.signal.addEventListener("abort", () => reject(run.signal.reason));
    });
  const running = runs.run(checkpoint("a", 60), signal, endless);
  const waiting = runs.run(checkpoint("a", 60), signal, () => Promise.resolve());
  const other = runs.run(checkpoint("b", 60), signal, () => gate.promise);
  const outcomes = Promise.allSettled([running, waiting]);

  await runs.cancel("a");
  gate.resolve();
  await other;

  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "CHECKPOINT_NOT_FOUND" } });
  }
});

test("the end of the daemon gives up what runs, and says that it was the daemon", async () => {
  const runs = runsWith(100);
  const outcome = runs.run(checkpoint("a", 1), signal, async (handle) => {
    await new Promise((resolve) => handle.signal.addEventListener("abort", resolve));
    handle.signal.throwIfAborted();
  });
  const rejected = expect(outcome).rejects.toMatchObject({
    code: "CANCELLED",
    message: expect.stringContaining("daemon was stopped"),
  });

  await runs.stop();

  await rejected;
});

test("after the end nothing begins any more", async () => {
  const runs = runsWith(100);
  await runs.stop();

  const outcome = runs.run(checkpoint("a", 1), signal, () => Promise.resolve());

  await expect(outcome).rejects.toSatisfy((error) => hasCode(error, "CANCELLED"));
});

test("a caller who gives up while waiting leaves the turn to the next one", async () => {
  const runs = runsWith(100);
  const gate = Promise.withResolvers<void>();
  const leaving = new AbortController();
  const first = runs.run(checkpoint("a", 60), signal, () => gate.promise);
  const second = runs.run(checkpoint("b", 60), leaving.signal, () => Promise.resolve());
  const third = runs.run(checkpoint("c", 60), signal, () => Promise.resolve("done"));

  leaving.abort();
  await expect(second).rejects.toSatisfy((error) => hasCode(error, "CANCELLED"));
  gate.resolve();

  expect(await third).toBe("done");
  await first;
});

test("an outcome does not wait for what its fork leaves, and the end of all runs does", async () => {
  const runs = runsWith(100);
  const cleared = Promise.withResolvers<void>();
  const events: string[] = [];

  await runs.run(checkpoint("a", 60), signal, async ({ leaves }) => leaves(cleared.promise));
  const cancelled = runs.cancel("a").then(() => events.push("nothing of it is left"));
  // Its memory is there for others already.
  await runs.run(checkpoint("b", 90), signal, async () => void events.push("b ran"));
  cleared.resolve();
  await cancelled;

  expect(events).toEqual(["b ran", "nothing of it is left"]);
});
