import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { importWithout } from "./import-without.ts";
import { filesBelow } from "./repository.ts";

/** What a machine without Linux, root or programs of its own does not have. */
const NOT_THERE = ["koffi", "node:child_process", "node:cluster", "node:worker_threads"];

test("what is shared and portable loads without native code and without programs", async () => {
  const files = filesBelow(["src/shared", "src/portable"], [".ts"]);

  await importWithout(
    NOT_THERE,
    files.filter((file) => !file.endsWith(".test.ts")),
  );
});

test("the saver of graphs loads without a native library", async () => {
  await importWithout(["koffi"], ["src/langgraph.ts", "src/portable/records/sqlite/index.ts"]);
});

test.each([["src/linux/kernel/index.ts"], ["src/base/run-process.ts"]])(
  "%s does not",
  async (file) => {
    await expect(importWithout(NOT_THERE, [file])).rejects.toMatchObject({
      stderr: expect.stringContaining("not there: "),
    });
  },
);

const SQL =
  /\b(SELECT\s[^;]*?\sFROM|PRAGMA \w|INSERT INTO|DELETE FROM|UPDATE \w+ SET|CREATE TABLE|ALTER TABLE)\b/;

test("nothing but what keeps something in SQLite or PostgreSQL has SQL in it", () => {
  const files = filesBelow(["src"], [".ts"]);
  const withSql = files.filter((file) => SQL.test(readFileSync(file, "utf8")));

  expect(withSql.length).toBeGreaterThan(5);
  const keeper = /src\/portable\/(?:[^/]+\/)?(?:sqlite|postgres)\//;
  expect(withSql.filter((file) => !keeper.test(file))).toEqual([]);
});
