import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { WAYPOINT_COMMAND } from "../support/command-line.ts";
import { eventually } from "../support/test-waypoint.ts";

let stateDir: string;

beforeAll(() => {
  stateDir = mkdtempSync(path.join(tmpdir(), "waypoint-test-"));
});
afterAll(() => rmSync(stateDir, { recursive: true }));

const last = cpus().length - 1;
test.each([
  [0, last],
  [last, 0],
])("the daemon starts in a mount namespace made on CPU %i, from CPU %i", async (made, started) => {
  const on = (cpu: number) => ["taskset", "--cpu-list", String(cpu)];
  const enter = ["unshare", "--mount", "--propagation", "private"];
  const command = [WAYPOINT_COMMAND, "--dir", stateDir, "ls"];
  const argv = [...on(made), ...enter, ...on(started), ...command];

  const { status, stdout, stderr } = spawnSync(argv[0] ?? "", argv.slice(1), {
    encoding: "utf8",
    env: { ...process.env, WAYPOINT_STORE_BYTES: String(1024 ** 3) },
  });

  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain("No sessions.");
  const { pid } = await callOperation(stateDir, "daemon.status", {});
  await callOperation(stateDir, "daemon.stop", { sessions: true });
  await eventually(
    "the end of the daemon",
    () => existsSync(`/proc/${pid}`),
    (isThere) => !isThere,
  );
});
