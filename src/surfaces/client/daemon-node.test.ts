import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { daemonNode } from "./daemon-node.ts";

const root = mkdtempSync(path.join(os.tmpdir(), "waypoint-node-"));
const own = path.join(root, ".tools/node/bin/node");
const [OLD, NEW] = ["v20.20.2", "v24.0.0"].map((version) => ({
  execPath: process.execPath,
  version,
})) as [NodeJS.Process, NodeJS.Process];

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
  vi.unstubAllEnvs();
});

test("a program of an older Node has its daemon run by the Node of the set-up", () => {
  expect(() => daemonNode(root, OLD)).toThrow(
    expect.objectContaining({ code: "SETUP_INCOMPLETE" }),
  );
  expect(daemonNode(root, NEW)).toBe(process.execPath);
  mkdirSync(path.dirname(own), { recursive: true });
  writeFileSync(own, "");
  expect(daemonNode(root, OLD)).toBe(own);
  vi.stubEnv("WAYPOINT_NODE", "/opt/node");
  expect(daemonNode(root, OLD)).toBe("/opt/node");
});

test("the same Node under two names keeps this program's", () => {
  mkdirSync(path.dirname(own), { recursive: true });
  symlinkSync(process.execPath, own);
  expect(daemonNode(root, NEW)).toBe(process.execPath);
});
