import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand, runShellLine } from "../support/command-line.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let hereDir: string;

beforeAll(async () => {
  own = await openTestWaypoint();
  hereDir = mkdtempSync("/var/tmp/waypoint-here-");
});

afterAll(async () => {
  rmSync(hereDir, { recursive: true });
  await own[Symbol.asyncDispose]();
});

async function startsIn(cwd: string, words: readonly string[] = []): Promise<string> {
  const line = `cd ${cwd} && $W new ${words.join(" ")} --json`;
  const made = await runShellLine(own.stateDir, line);
  const { name } = JSON.parse(made.stdout) as { name: string };
  const { stdout } = await runCommand(own.stateDir, ["exec", name, "pwd"]);
  await runCommand(own.stateDir, ["rm", "--force", "--yes", name]);
  return stdout.trim();
}

test("a session starts in the directory one stands in, where it has that", async () => {
  const covered = mkdtempSync("/dev/waypoint-here-");
  try {
    expect(await startsIn(hereDir)).toBe(hereDir);
    expect(await startsIn(covered)).toBe("/root");
    expect(await startsIn(own.stateDir)).toBe("/root");
  } finally {
    rmSync(covered, { recursive: true });
  }
});

test("another directory, another user and another base are as they were asked for", async () => {
  const inBind = path.join(hereDir, "shared");
  mkdirSync(path.join(inBind, "below"), { recursive: true });

  expect(await startsIn(hereDir, ["--cwd", "/usr"])).toBe("/usr");
  expect(await startsIn(hereDir, ["--user", "nobody"])).toBe("/");
  expect(await startsIn(path.join(inBind, "below"), ["--bind", `${inBind}:${inBind}`])).toBe(
    path.join(inBind, "below"),
  );
});
