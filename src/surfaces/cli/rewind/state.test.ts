import { expect, test } from "vitest";
import { type Effect, type Key, type PickerState, press, showCheckpoints } from "./state.ts";

const START: PickerState = {
  checkpoints: ["a", "b", "c", "d"],
  selected: "c",
  mode: { kind: "list" },
  query: "",
  lastCommand: "",
};

/** Presses keys one after the other; words in <> are names of keys. */
function type(state: PickerState, keys: string): { state: PickerState; effects: Effect[] } {
  const effects: Effect[] = [];
  let now = state;
  for (const [, name, text] of keys.matchAll(/<(\w+)>|([^<])/g)) {
    const key = name === undefined ? { name: "text", text } : { name };
    const pressed = press(now, key as Key, 2);
    now = pressed.state;
    if (pressed.effect !== undefined) effects.push(pressed.effect);
  }
  return { state: now, effects };
}

test("arrows, pages, ends and letters move, and stop at the ends", () => {
  const at = (keys: string) => type(START, keys).state.selected;
  expect(at("<up>")).toBe("b");
  expect(at("<down><down><down>")).toBe("d");
  expect(at("<pageUp>")).toBe("a");
  expect(at("<home>")).toBe("a");
  expect(at("<home><end>")).toBe("d");
  expect(at("kkj")).toBe("b");
  expect(at("gG")).toBe("d");
});

test("Enter asks first, and only y restores", () => {
  expect(type(START, "<enter>").effects).toEqual([{ kind: "preview", checkpoint: "c" }]);
  expect(type(START, "<enter>").state.mode).toEqual({ kind: "confirm" });
  expect(type(START, "<enter>n").effects).toHaveLength(1);
  expect(type(START, "<enter><enter>").effects).toHaveLength(1);
  expect(type(START, "<enter>y").effects.at(-1)).toEqual({ kind: "restore", checkpoint: "c" });
});

test("a search takes every letter, and Escape takes it back before it leaves", () => {
  const searched = type(START, "/quit<backspace>x<enter>");
  expect(searched.effects).toEqual([{ kind: "search", query: "quix" }]);
  expect(type(START, "/abc<escape>").effects).toEqual([]);
  expect(type({ ...START, query: "x" }, "<escape>").effects).toEqual([
    { kind: "search", query: "" },
  ]);
  expect(type(START, "<escape>").effects).toEqual([{ kind: "leave" }]);
  expect(type(START, "q").effects).toEqual([{ kind: "leave" }]);
});

test("a verification remembers its command; an empty one is none", () => {
  const first = type(START, "vnpm test<enter>");
  expect(first.effects).toEqual([{ kind: "verify", checkpoint: "c", command: "npm test" }]);
  expect(type(first.state, "<up>v<enter>").effects).toEqual([
    { kind: "verify", checkpoint: "b", command: "npm test" },
  ]);
  expect(type(START, "v <enter>").effects).toEqual([]);
});

test("Ctrl-C leaves from everywhere", () => {
  for (const before of ["", "/a", "v", "?", "<enter>"]) {
    expect(type(START, `${before}<interrupt>`).effects.at(-1)).toEqual({ kind: "leave" });
  }
});

test("nothing can be done about no checkpoint", () => {
  const empty = showCheckpoints(START, []);
  expect(empty.selected).toBeNull();
  expect(type(empty, "<up>dfv<enter><enter>").effects).toEqual([]);
});

test("the selection stays when others are shown, else goes to the newest", () => {
  expect(showCheckpoints(START, ["a", "c"]).selected).toBe("c");
  expect(showCheckpoints(START, ["a", "b"]).selected).toBe("b");
});
