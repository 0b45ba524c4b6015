import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { runInTurn } from "./run-in-turn.ts";

test("each contender goes first as often as the others, and warm-up is not counted", async () => {
  const started: string[] = [];
  const contender = (name: string) => ({
    name,
    run: () => {
      started.push(name);
      return Promise.resolve({ took: started.length });
    },
  });

  const series = await runInTurn(["a", "b", "c"].map(contender), {
    ...{ rounds: 5, warmUpRounds: 1 },
    onFailure: () => {},
  });

  const first = started.filter((_name, index) => index % 3 === 0);
  expect(first.toSorted()).toEqual(["a", "a", "b", "b", "c", "c"]);
  expect(series.map(({ contender: name }) => name)).toEqual(["a", "b", "c"]);
  expect(series.map(({ values }) => values.length)).toEqual([5, 5, 5]);
  expect(series.flatMap(({ values }) => values)).not.toContain(1);
});

test("a contender that is slow sits out after two rounds", async () => {
  const slow = { name: "slow", run: () => delay(300).then(() => ({ took: 300 })) };
  const fast = { name: "fast", run: () => Promise.resolve({ took: 0 }) };

  const series = await runInTurn([slow, fast], {
    ...{ rounds: 5, warmUpRounds: 0, budgetMs: 250 },
    onFailure: () => {},
  });

  expect(series.map(({ contender, values }) => [contender, values.length])).toEqual([
    ["slow", 2],
    ["fast", 5],
  ]);
});

test("a contender that fails does not run again, and the others go on", async () => {
  const failures: string[] = [];
  let attempts = 0;

  const series = await runInTurn(
    [
      { name: "good", run: () => Promise.resolve({ took: 1 }) },
      {
        name: "bad",
        run: () => {
          attempts += 1;
          return Promise.reject(new Error("no such program"));
        },
      },
    ],
    { rounds: 3, warmUpRounds: 1, onFailure: ({ name }) => failures.push(name) },
  );

  expect({ attempts, failures }).toEqual({ attempts: 1, failures: ["bad"] });
  expect(series).toEqual([{ contender: "good", figure: "took", values: [1, 1, 1] }]);
});
