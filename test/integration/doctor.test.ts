import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { finished, startCommand } from "../support/command-line.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-doctor-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

async function closingCheck(searchPath: string): Promise<unknown> {
  const env = { ...process.env, PATH: searchPath };
  const { stdout } = await finished(startCommand(directory, ["doctor", "--json"], { env }));
  const { checks } = JSON.parse(stdout) as { checks: { id: string }[] };
  return checks.find(({ id }) => id === "close-connections");
}

test("doctor has the kernel close a connection", async () => {
  expect(await closingCheck(process.env["PATH"] ?? "")).toMatchObject({
    ok: true,
    detail: "the kernel closes connections (tried)",
    fix: null,
  });
});

test("doctor tells when nothing closes it", async () => {
  // As on a kernel without CONFIG_INET_DIAG_DESTROY, where ss skips what it cannot close.
  symlinkSync("/bin/true", path.join(directory, "ss"));

  expect(await closingCheck(`${directory}:${process.env["PATH"]}`)).toMatchObject({
    ok: true,
    detail: expect.stringMatching(/^missing/),
    fix: expect.stringContaining("CONFIG_INET_DIAG_DESTROY"),
  });
});
