import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openTestWaypoint } from "../support/test-waypoint.ts";

const EXAMPLE = fileURLToPath(new URL("../../examples/langgraph/run.ts", import.meta.url));
const PAGE = fileURLToPath(new URL("../../docs/langgraph.md", import.meta.url));

test("the example goes wrong, goes back with its machine and finishes, as its page has it", async () => {
  await using own = await openTestWaypoint();
  const env = { ...process.env, WAYPOINT_DIR: own.stateDir };
  const { stdout } = await promisify(execFile)(process.execPath, [EXAMPLE], { env });
  const [, transcript] =
    /```text\n(The agent is [\s\S]*?)```/.exec(readFileSync(PAGE, "utf8")) ?? [];

  expect(stdout.trim()).toBe(transcript?.trim());
  expect(await own.waypoint.sessions()).toEqual([]);
});
