import { expect, test } from "vitest";
import { AnswerBudget } from "./answer-budget.ts";

test("lists are kept as long as there is room, and what is missing is counted", () => {
  const room = new AnswerBudget(20);

  expect(room.keep(["12345678"], "first")).toEqual(["12345678"]);
  expect(room.keep(["1", "12345678", "1"], "second")).toEqual(["1"]);
  expect(room.keep([], "third")).toEqual([]);
  expect(room.leftOut).toEqual({ "other second": "2 more do not fit into an answer" });
});
