import { execFile } from "node:child_process";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { filesBelow, ROOT } from "./repository.ts";

/** What a machine without Linux, root or programs of its own does not have. */
const NOT_THERE = ["koffi", "node:child_process", "node:cluster", "node:worker_threads"];

/** Imports files in a Node that cannot resolve {@link NOT_THERE}. */
async function importAll(files: readonly string[]): Promise<void> {
  const urls = files.map((file) => pathToFileURL(path.join(ROOT, file)).href);
  const program = `
    const { registerHooks } = await import("node:module");
    const notThere = new Set(${JSON.stringify(NOT_THERE)}.flatMap((name) => [name, name.replace("node:", "")]));
    registerHooks({
      resolve(specifier, context, next) {
        if (notThere.has(specifier)) throw new Error("not there: " + specifier);
        return next(specifier, context);
      },
    });
    for (const url of ${JSON.stringify(urls)}) await import(url);
  `;
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
}

test("what is shared and portable loads without native code and without programs", async () => {
  const files = filesBelow(["src/shared", "src/portable"], [".ts"]);

  await importAll(files.filter((file) => !file.endsWith(".test.ts")));
});

test.each([["src/linux/kernel/index.ts"], ["src/base/run-process.ts"]])(
  "%s does not",
  async (file) => {
    await expect(importAll([file])).rejects.toMatchObject({
      stderr: expect.stringContaining("not there: "),
    });
  },
);
