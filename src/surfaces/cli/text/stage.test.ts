import { expect, test } from "vitest";
import { renderStage } from "./stage.ts";

test("durable is what it is on a disk, and lasts as long as the machine in memory", () => {
  expect(renderStage({ stage: "durable" }, { isInMemory: false })).toBe("durable");
  expect(renderStage({ stage: "captured" }, { isInMemory: true })).toBe("captured");
  expect(renderStage({ stage: "durable" }, { isInMemory: true })).toMatch(/^durable until the/);
});
