import { expect, test } from "vitest";
import { answerChords } from "./answer-chords.ts";
import { endsInSequence } from "./ends-in-sequence.ts";

test.for([
  ["text", false],
  ["", false],
  ["\u001b[31m", false],
  ["\u001b", true],
  ["\u001b[", true],
  ["\u001b[?20", true],
  ["\u001b[38;5", true],
  ["\u001b]0;a title", true],
  ["\u001b]0;a title\u0007", false],
  ["\u001b]0;a title\u001b\\", false],
  ["\u001b(", true],
  ["\u001b(B", false],
] as const)("%j ends within a sequence: %s", ([text, ends]) => {
  expect(endsInSequence(Buffer.from(text))).toBe(ends);
});

test("a character that is cut is not whole", () => {
  const bytes = Buffer.from("a€");
  expect([2, 3, 4].map((count) => endsInSequence(bytes.subarray(0, count)))).toEqual([
    ...[true, true, false],
  ]);
});

test("the answers stand behind the prefix that detaches, and are not what detaches", () => {
  expect(answerChords("ctrl-],d")).toEqual({ approve: "ctrl-],y", deny: "ctrl-],n" });
  expect(answerChords("ctrl-a,y")).toEqual({ approve: "ctrl-a,a", deny: "ctrl-a,n" });
  expect(answerChords("ctrl-a,ctrl-b,n")).toEqual({
    ...{ approve: "ctrl-a,ctrl-b,y", deny: "ctrl-a,ctrl-b,x" },
  });
  expect(answerChords("q")).toEqual({ approve: "ctrl-],y", deny: "ctrl-],n" });
});
