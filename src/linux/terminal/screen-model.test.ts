import { expect, test } from "vitest";
import { ScreenModel } from "./screen-model.ts";

test("a screen shows what its output says and can be redrawn elsewhere", async () => {
  const screen = new ScreenModel(20, 3);
  await screen.write(Buffer.from("one\r\ntwo\u001b[1;1HO\u001b[31mN"));

  const copy = new ScreenModel(20, 3);
  await copy.write(Buffer.from(screen.serialize()));

  expect(screen.text()).toEqual(["ONe", "two", ""]);
  expect(copy.text()).toEqual(screen.text());
  screen.dispose();
  copy.dispose();
});

test("its cells are runs that look alike, with what a reader needs to draw them", async () => {
  const screen = new ScreenModel(20, 3);
  await screen.write(
    Buffer.from("a \u001b[1;31mred\u001b[0m 世界\r\n\u001b[48;2;1;2;255m  \u001b[0m   \r\n"),
  );

  expect(screen.cells()).toEqual([
    [
      { text: "a ", columns: 2 },
      { text: "red", columns: 3, color: 1, style: ["bold"] },
      { text: " 世界", columns: 5 },
    ],
    [{ text: "  ", columns: 2, background: "#0102ff" }],
    [],
  ]);
  const lines = screen.cells().map((runs) => runs.map(({ text }) => text).join(""));
  expect(lines.map((line) => line.trimEnd())).toEqual(screen.text().map((line) => line.trimEnd()));
  screen.dispose();
});

test("a size that a program has set beyond all screens is bounded", async () => {
  const screen = new ScreenModel(65_535, 65_535);
  await screen.write(Buffer.from("x"));

  expect(screen.text()).toHaveLength(1000);
  await screen.resize(0, 65_535);
  expect(screen.cells()).toHaveLength(1000);
  screen.dispose();
});
