import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL("../../scripts/walk.mjs", import.meta.url));
const TIMELINE = fileURLToPath(new URL("../../docs/timeline.md", import.meta.url));

test.each([
  ["docs/first-hour.md", "first-hour"],
  ["docs/going-back.md", "going-back"],
  ["docs/timeline.md", "afternoon"],
])("%s tells what the product prints", async (_document, name) => {
  const { stdout } = await run(process.execPath, [SCRIPT, name, "--check"]).catch(
    (error: { stdout: string; stderr: string }) => error,
  );

  expect(stdout).toMatch(/^\d+ blocks, 0 with other words\n$/);
});

test("of twenty checkpoints without a word the good one is found by its line, in 80 columns", () => {
  const [, printed = ""] = readFileSync(TIMELINE, "utf8").split("```text\n");
  const lines = (printed.split("```")[0] ?? "").split("\n").filter((line) => line.includes("●"));
  const good = lines.findIndex((line) => line.endsWith("· 1 commit (A cart)"));
  // What is wrong with each later one, in their order.
  const reasons = [
    ...[/server\.py 3000→3001/, /\(exit 1\) · \+ requirements\.txt/, /on branch experiment/],
    ...[/\$ mkdir -p node_modules[^·]*$/, /− data\/shop\.db/, /cart\.py → basket\.py/],
    ...[/\$ sh test\.sh \(exit 2\)/, /~ config\.json/, /server\.py down/],
    ...[/\$ python3 server\.py \(exit 1\)/, /env DEBUG/, /--oneline; ls$/, /\(exit 1\)/],
  ];

  expect(lines).toHaveLength(20);
  for (const line of lines) expect([...line].length, line).toBeLessThanOrEqual(80);
  expect(lines[good]).not.toContain("exit");
  expect(lines.slice(good + 1)).toHaveLength(reasons.length);
  for (const [at, reason] of reasons.entries()) expect(lines[good + 1 + at]).toMatch(reason);
});
