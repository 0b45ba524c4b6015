import { expect, test } from "vitest";
import { PrivateModes } from "./private-modes.ts";

function undoAfter(...chunks: string[]): string {
  const modes = new PrivateModes();
  for (const chunk of chunks) modes.watch(Buffer.from(chunk, "latin1"));
  return modes.undo();
}

test("modes that were switched on are switched off", () => {
  expect(undoAfter("\u001b[?1049h\u001b[?1002;1006h")).toBe(
    "\u001b[?1049l\u001b[?1002l\u001b[?1006l\u001b[0m",
  );
});

test("modes that the program put back itself are left alone", () => {
  expect(undoAfter("\u001b[?1049htext\u001b[?1049l\u001b[?25l\u001b[?25h")).toBe("\u001b[0m");
});

test("a hidden cursor is shown again", () => {
  expect(undoAfter("\u001b[?25l")).toBe("\u001b[?25h\u001b[0m");
});

test("a sequence is found across chunks", () => {
  expect(undoAfter("text\u001b[?20", "04hmore")).toBe("\u001b[?2004l\u001b[0m");
});

test("enhanced key reports are ended", () => {
  expect(undoAfter("\u001b[>1u\u001b[>5u\u001b[<u\u001b[>4;2m")).toBe(
    "\u001b[<1u\u001b[>4m\u001b[0m",
  );
});
