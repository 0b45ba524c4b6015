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
