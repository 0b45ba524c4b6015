import { expect, test } from "vitest";
import type { Change } from "../thread-records.ts";
import { stepsOf } from "./write-order.ts";

const value = new Uint8Array(1);
const put = (key: string): Change => ({ key, value });
const content = (key: string): Change => ({ key, value, mode: "content" });
const remove = (key: string): Change => ({ key, value: null });
const keysOf = (changes: Change[]) => stepsOf(changes).map((step) => step.map(({ key }) => key));

test("content comes first and once, the last change by itself", () => {
  const changes = [put("w/1"), content("o/1"), put("w/2"), content("o/1"), put("w/3")];

  expect(keysOf(changes)).toEqual([["o/1"], ["w/1", "w/2"], ["w/3"]]);
});

test("what is removed is removed kind after kind", () => {
  const changes = ["c/1", "c/2", "w/1", "w/2", "o/1", "o/2"].map(remove);

  expect(keysOf(changes)).toEqual([["c/1", "c/2"], ["w/1", "w/2"], ["o/1"], ["o/2"]]);
});

test("changes of one key stay in their order, also with content", () => {
  const changes = [put("a"), put("a"), remove("o/1"), content("o/1"), remove("a")];

  expect(keysOf(changes)).toEqual([["a"], ["a"], ["o/1"], ["o/1"], ["a"]]);
});

test("keys without a slash are of one kind, and no change is no step", () => {
  expect(keysOf([put("a"), put("b"), put("c/d"), put("e")])).toEqual([["a", "b"], ["c/d"], ["e"]]);
  expect(keysOf([])).toEqual([]);
  expect(keysOf([content("o/1")])).toEqual([["o/1"]]);
});
