import { expect, test } from "vitest";
import type { PackageFile } from "../../../formats/packages/index.ts";
import { PackageSlots } from "./package-slots.ts";

const FILE: PackageFile = { manager: "cargo", environment: "/app", list: () => [] };

test("more packages than anyone looks through are refused, whatever their names", () => {
  const slots = new PackageSlots();
  const packages = (name: string, count: number) =>
    Array.from({ length: count }, (_, number) => ({ name, version: String(number) }));
  slots.add(FILE, packages("one", 100_000), packages("other", 100_000));

  slots.add(FILE, packages("one", 100_000), packages("other", 100_000));

  expect(() => slots.add(FILE, [], packages("third", 1))).toThrow("too many packages");
  expect(slots.changes()).toHaveLength(200_000);
});
