import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WAYPOINT_VERSION } from "../../src/shared/protocol/index.ts";
import { ROOT } from "./repository.ts";

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-not-set-up-"));
  mkdirSync(path.join(directory, "docs"));
  for (const file of ["bin/waypoint", "docs/cli.md", "package.json"]) {
    cpSync(path.join(ROOT, file), path.join(directory, file));
  }
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

function run(...words: string[]) {
  const env = { PATH: "/usr/bin:/bin" };
  return new Promise<{ exitCode: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(path.join(directory, "bin/waypoint"), words, { env }, (error, stdout, stderr) => {
      resolve({ exitCode: error?.code ?? 0, stdout, stderr });
    });
  });
}

test("the version is told before anything is set up", async () => {
  expect(await run("--version")).toEqual({
    ...{ exitCode: 0, stdout: `${WAYPOINT_VERSION}\n`, stderr: "" },
  });
});

test.each([
  [[], "# Command line\n"],
  [["--help"], "# Command line\n"],
  [["no-command", "--help"], "# Command line\n"],
  [["fork", "--help"], "## waypoint fork\n"],
  [["help", "fork"], "## waypoint fork\n"],
  [["daemon", "stop", "-h"], "## waypoint daemon stop\n"],
])("so is the help: waypoint %j", async (words, first) => {
  const { exitCode, stdout, stderr } = await run(...words);

  expect(exitCode).toBe(0);
  expect(stdout.startsWith(first)).toBe(true);
  expect(stdout.match(/^## /gm) ?? []).toHaveLength(first.startsWith("## ") ? 1 : 0);
  expect(stderr).toContain("waypoint setup");
});

test.each([[["ls"]], [["exec", "web", "--", "ls", "--help"]]])(
  "nothing else is: waypoint %j",
  async (words) => {
    const { exitCode, stderr } = await run(...words);

    expect({ exitCode, stderr }).toEqual({
      ...{ exitCode: 20, stderr: expect.stringContaining("is not set up") },
    });
  },
);
