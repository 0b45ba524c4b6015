import { expect, test } from "vitest";
import { CONTRACT } from "../../shared/protocol/index.ts";
import { keepHarmless, SUGGESTED_COMMANDS } from "./suggestions.ts";

test("no command is suggested that changes something", () => {
  const effects = Object.entries(CONTRACT).map(([name, { effect }]) => [name, effect] as const);
  const changing = effects.filter(([, effect]) => effect !== "read").map(([name]) => name);

  expect(changing).toContain("undo");
  expect(changing.filter((name) => SUGGESTED_COMMANDS.has(name))).toEqual([]);
});

test.for([
  ["Did you mean undo?", null],
  ["Did you mean log?", "Did you mean log?"],
  ["Did you mean one of rm, ps?", "Did you mean ps?"],
  ["Did you mean one of ls, ps, rm?", "Did you mean one of ls, ps?"],
] as const)("%s becomes %s", ([suggestion, kept]) => {
  expect(keepHarmless(suggestion)).toBe(kept);
});
