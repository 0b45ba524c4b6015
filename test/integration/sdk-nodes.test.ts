import { cpSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { runProcess } from "../../src/base/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { type OtherNode, otherNode } from "../support/other-nodes.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM = path.join(ROOT, "test/support/sdk-program.mjs");
const RUN_TIMEOUT_MS = 180_000;

const project = mkdtempSync(path.join(os.tmpdir(), "waypoint-embeds-"));
// As `npm install ../waypoint` leaves it.
mkdirSync(path.join(project, "node_modules"));
symlinkSync(ROOT, path.join(project, "node_modules/waypoint"));
cpSync(PROGRAM, path.join(project, "program.mjs"));
afterAll(() => rmSync(project, { recursive: true }));

test.each([20, 22, 24])("the built SDK does all it can in a program of Node %i", async (major) => {
  const node = major === 24 ? process.execPath : await otherNode(major as OtherNode);
  const stateDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-test-"));
  const env = {
    ...process.env,
    ...{ WAYPOINT_DIR: stateDir, WAYPOINT_STORE_BYTES: `${8 * 1024 ** 3}` },
    ...{ WAYPOINT_STANDBY: "off", NODE_OPTIONS: "" },
  };
  try {
    const { stdout } = await runProcess([node, path.join(project, "program.mjs")], {
      ...{ cwd: project, env, timeoutMs: RUN_TIMEOUT_MS },
    });
    expect(stdout).toMatch(new RegExp(`^v${major}\\.`));
    // The program has started the daemon, with a Node that it needs itself.
    const { pid } = await callOperation(stateDir, "daemon.status", {}, { start: false });
    const daemon = await runProcess([readlinkSync(`/proc/${pid}/exe`), "--version"]);
    expect(daemon.stdout).toMatch(/^v(2[4-9]|[3-9]\d)\./);
  } finally {
    await callOperation(stateDir, "daemon.stop", { sessions: true }, { start: false });
    rmSync(stateDir, { recursive: true, force: true });
  }
});
