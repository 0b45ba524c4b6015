import { expect, test } from "vitest";
import { CONTRACT } from "../../shared/protocol/index.ts";
import { COMMAND_TABLE } from "./command-table.ts";
import { keepHarmless, leadFrom, OTHER_NAMES, SUGGESTED_COMMANDS } from "./suggestions.ts";

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

test.for([
  ["info", "Did you mean show?"],
  ["version", "That is `waypoint --version`."],
  ["prune", "Here it is called rm: `waypoint rm --help` says what it does."],
  ["delete", "Here it is called rm: `waypoint rm --help` says what it does."],
  ["kill", "Here it is called stop: `waypoint stop --help` says what it does."],
  ["nonsense", null],
] as const)("%s leads to %s", ([word, lead]) => {
  expect(leadFrom(word)).toBe(lead);
});

test("no name of another program is a command here, and each leads to one that is", () => {
  const names = COMMAND_TABLE.map(({ name }) => name);
  const words = OTHER_NAMES.map((word) => [word, leadFrom(word)] as const);

  for (const [word, lead] of words) {
    expect(names, word).not.toContain(word);
    const [, name = ""] = /(?:called|mean) ([a-z]+)/.exec(lead ?? "") ?? [];
    if (!lead?.includes("waypoint --")) expect(names, word).toContain(name);
  }
});
