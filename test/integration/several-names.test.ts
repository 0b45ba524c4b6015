import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../support/command-line.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const EXIT_CODE_NOT_FOUND = 10;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(() => own?.[Symbol.asyncDispose]());

async function start(...names: string[]): Promise<void> {
  await Promise.all(names.map((name) => own.waypoint.new({ name, net: "none" })));
}

/** Says of every session whether it runs. */
async function states(): Promise<Record<string, string>> {
  const sessions = await own.waypoint.sessions();
  return Object.fromEntries(sessions.map(({ name, state }) => [name, state]));
}

function linesOf(text: string): string[] {
  return text.split("\n").filter(Boolean);
}

test("stop ends all that are named, also behind one that is not there", async () => {
  await start("one", "two", "three");

  const stopped = await runCommand(own.stateDir, [
    "stop",
    "--no-checkpoint",
    "one",
    "nobody",
    "two",
  ]);

  expect(stopped.exitCode).toBe(EXIT_CODE_NOT_FOUND);
  const told = linesOf(stopped.stdout).filter((line) => line.includes("is stopped"));
  expect(told.map((line) => line.split(" ")[1])).toEqual(["one", "two"]);
  expect(stopped.stderr).toContain("nobody");
  expect(await states()).toEqual({ one: "stopped", two: "stopped", three: "running" });
});

test("stop with one name twice ends it once, and that is no failure", async () => {
  const stopped = await runCommand(own.stateDir, ["stop", "--no-checkpoint", "three", "three"]);

  expect(stopped).toMatchObject({ exitCode: 0, stderr: "" });
  expect(linesOf(stopped.stdout).filter((line) => line.includes("is stopped"))).toHaveLength(1);
  expect(await states()).toMatchObject({ three: "stopped" });
});

test("for a program each that was ended is a line, and the failures are one", async () => {
  await start("four", "five");

  const stopped = await runCommand(own.stateDir, ["--json", "stop", "four", "no", "none", "five"]);

  const names = linesOf(stopped.stdout).map((line) => JSON.parse(line).session.name);
  expect(names).toEqual(["four", "five"]);
  expect(stopped.exitCode).toBe(EXIT_CODE_NOT_FOUND);
  const { error } = JSON.parse(stopped.stderr);
  expect(error.code).toBe("SESSION_NOT_FOUND");
  expect(error.detail.failures.map(({ name }: { name: string }) => name)).toEqual(["no", "none"]);
});

test("rm removes all that are named, also behind one that is not there, and no other", async () => {
  const removed = await runCommand(own.stateDir, ["rm", "--yes", "one", "nobody", "two"]);

  expect(removed.exitCode).toBe(EXIT_CODE_NOT_FOUND);
  const told = linesOf(removed.stdout).map((line) => line.split(" ").slice(0, 3).join(" "));
  expect(told).toEqual(["Removed session one.", "Removed session two."]);
  expect(removed.stderr).toContain("nobody");
  expect(Object.keys(await states()).sort()).toEqual(["five", "four", "three"]);
});

test("rm with one name twice removes it once, and that is no failure", async () => {
  const removed = await runCommand(own.stateDir, ["rm", "--yes", "three", "three"]);

  expect(removed).toMatchObject({ exitCode: 0, stderr: "" });
  expect(linesOf(removed.stdout)).toEqual(["Removed session three."]);
});

test("rm leaves one that runs, and removes those behind it", async () => {
  await start("six");

  const removed = await runCommand(own.stateDir, ["rm", "--yes", "four", "six", "five"]);

  expect(removed.exitCode).not.toBe(0);
  expect(removed.stderr).toContain("six");
  expect(await states()).toEqual({ six: "running" });
});
