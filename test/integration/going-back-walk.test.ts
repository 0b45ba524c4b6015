import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL("../../scripts/going-back.mjs", import.meta.url));

test("docs/going-back.md tells what the product prints", async () => {
  const { stdout } = await run(process.execPath, [SCRIPT, "--check"]).catch(
    (error: { stdout: string; stderr: string }) => error,
  );

  expect(stdout).toMatch(/^\d\d blocks, 0 with other words\n$/);
});
