import fc from "fast-check";
import { expect, test } from "vitest";
import { displayWidth } from "../text/display-width.ts";
import { plain } from "../text/style.ts";
import { drawScreen, type Scene } from "./draw-screen.ts";
import type { Mode } from "./state.ts";

const IDS = Array.from({ length: 50 }, (_, at) => `checkpoint${at}`);

function sceneOf(mode: Mode, selected: string): Scene {
  return {
    state: { checkpoints: IDS, selected, mode, query: "文字", lastCommand: "" },
    session: "web",
    rowsOf: () =>
      IDS.map((id) => ({ checkpoint: id, lines: [`● ${id} 文字 `.repeat(20), "below"] })),
    preview: Array.from({ length: 80 }, (_, at) => `preview ${at} 文字 `.repeat(10)),
    message: "message ".repeat(50),
    paint: plain,
  };
}

const modes: Mode[] = [
  { kind: "list" },
  { kind: "help" },
  { kind: "confirm" },
  { kind: "search", text: "text ".repeat(100) },
];

test("the screen is never higher or wider than the terminal, and shows the selection", () => {
  const given = fc.record({
    columns: fc.integer({ min: 20, max: 250 }),
    rows: fc.integer({ min: 8, max: 80 }),
    mode: fc.constantFrom(...modes),
    at: fc.integer({ min: 0, max: IDS.length - 1 }),
  });
  fc.assert(
    fc.property(given, ({ columns, rows, mode, at }) => {
      const lines = drawScreen(sceneOf(mode, IDS[at] as string), { columns, rows });
      expect(lines).toHaveLength(rows);
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
      const marked = lines.filter((line) => line.startsWith("> "));
      if (mode.kind === "list") expect(marked[0]).toContain(`● ${IDS[at]}`.slice(0, columns - 8));
    }),
  );
});

test("the question takes the screen for its preview where both have no room", () => {
  const lines = drawScreen(sceneOf({ kind: "confirm" }, "checkpoint3"), { columns: 60, rows: 12 });

  expect(lines[1]).toContain("preview 0");
  expect(lines.at(-1)).toContain("Put it back to checkpoint3?");
});
