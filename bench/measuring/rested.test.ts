import { expect, test } from "vitest";
import { runRested } from "./rested.ts";

const contender = (done: string[]) => ({
  name: "a",
  before: async () => void done.push("before"),
  run: async () => {
    done.push("run");
    return { pause: 1 };
  },
});

test("what is measured after a rest has a figure of its own, and no more rounds than are bearable", async () => {
  const done: string[] = [];

  const [series] = await runRested([contender(done)], {
    ...{ rounds: 100, restSeconds: 0.001, onFailure: () => {} },
  });

  expect(series).toMatchObject({ contender: "a", figure: "pause, after a rest" });
  expect(series?.values).toHaveLength(12);
  expect(done.slice(0, 4)).toEqual(["before", "run", "before", "run"]);
});

test("a run that is ended does not rest to its end, and no contender is blamed", async () => {
  const cancel = new AbortController();
  const failures: unknown[] = [];

  const run = runRested([contender([])], {
    ...{ rounds: 1, restSeconds: 3_600, signal: cancel.signal },
    onFailure: (_contender, error) => failures.push(error),
  });
  cancel.abort(new Error("ended"));

  await expect(run).rejects.toThrow("ended");
  expect(failures).toEqual([]);
});
