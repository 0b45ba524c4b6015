import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findCriu } from "./find-criu.ts";
import { requireHost } from "./require-host.ts";

let packageRoot: string;

beforeEach(() => {
  packageRoot = mkdtempSync(path.join(tmpdir(), "waypoint-host-"));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(packageRoot, { recursive: true, force: true });
});

function record(fields: Record<string, string>): void {
  mkdirSync(path.join(packageRoot, ".tools"), { recursive: true });
  const text = JSON.stringify({ version: "4.2", kernelRelease: "6.1", ...fields });
  writeFileSync(path.join(packageRoot, ".tools/criu.json"), text);
}

function options(): { packageRoot: string; preloadPath: string } {
  const preloadPath = path.join(packageRoot, "preload.so");
  writeFileSync(preloadPath, "");
  return { packageRoot, preloadPath };
}

test("without a record the set-up is incomplete", async () => {
  await expect(findCriu(options())).rejects.toMatchObject({ code: "SETUP_INCOMPLETE" });
});

test("a recorded CRIU that has gone is as good as none", async () => {
  record({ origin: "private", prefix: "criu/4.2" });

  await expect(findCriu(options())).rejects.toMatchObject({ code: "SETUP_INCOMPLETE" });
});

test("a private CRIU is started through its own loader and leaves LD_PRELOAD alone", async () => {
  record({ origin: "private", prefix: "criu/4.2" });
  const prefix = path.join(packageRoot, ".tools/criu/4.2");
  mkdirSync(path.join(prefix, "usr/sbin"), { recursive: true });
  writeFileSync(path.join(prefix, "usr/sbin/criu"), "");

  const criu = await findCriu(options());

  expect(criu.argv[0]).toMatch(/ld-linux-[\w-]+\.so\.\d$/);
  expect(criu.argv.at(-1)).toBe(path.join(prefix, "usr/sbin/criu"));
  expect(criu.env).toEqual({});
  expect(criu.argv).toContain("--preload");
});

test("the machine's CRIU is started as it is", async () => {
  record({ origin: "system", program: process.execPath });

  const criu = await findCriu(options());

  expect(criu.argv).toEqual([process.execPath]);
  expect(criu.env).toHaveProperty("LD_PRELOAD");
});

test("a user who is not root is told how to become it", async () => {
  vi.spyOn(process, "geteuid").mockReturnValue(1000);

  await expect(requireHost(options())).rejects.toMatchObject({
    code: "PRIVILEGE_MISSING",
    hint: expect.stringContaining("sudo"),
  });
});

test("another operating system is refused", async () => {
  vi.spyOn(process, "platform", "get").mockReturnValue("darwin");

  await expect(requireHost(options())).rejects.toMatchObject({ code: "HOST_UNSUPPORTED" });
});
