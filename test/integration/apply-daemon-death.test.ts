import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommand } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** So many that the daemon can be killed between two of them. */
const FILES = 800;

let own: TestWaypoint;
let dir: string;

beforeEach(async () => {
  dir = mkdtempSync(path.join(os.tmpdir(), "waypoint-death-"));
  for (let name = 0; name < FILES; name += 1) writeFileSync(path.join(dir, String(name)), "old\n");
  own = await openTestWaypoint();
  const session = await own.waypoint.new({ name: "web", net: "none" });
  await session.exec(`cd ${dir} && for n in *; do echo new > $n; done; touch one-more`);
  await session.checkpoint();
});

afterEach(async () => {
  await own[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true });
});

function countNew(): number {
  const names = readdirSync(dir).filter((name) => !name.startsWith("."));
  const texts = names.map((name) => readFileSync(path.join(dir, name), "utf8"));
  expect(texts.filter((text) => !["old\n", "new\n", ""].includes(text))).toEqual([]);
  return texts.filter((text) => text === "new\n").length;
}

/** Kills the daemon when the first file has become another, and returns how many are new then. */
async function killHalfWay(begin: () => Promise<unknown>): Promise<number> {
  const daemonPid = await own.daemonPid();
  const first = path.join(dir, "0");
  const before = readFileSync(first, "utf8");
  const applied = begin().catch((error: unknown) => error);
  let isEnded = false;
  void applied.finally(() => {
    isEnded = true;
  });
  while (!isEnded && readFileSync(first, "utf8") === before) await delay(1);
  process.kill(daemonPid, "SIGKILL");
  await applied;
  return countNew();
}

test.each([
  ["--continue", FILES],
  ["--abort", 0],
])("after kill -9 half-way, apply %s leaves %i new files", async (option, newCount) => {
  const countAtDeath = await killHalfWay(() => own.waypoint.apply("web@", { paths: [dir] }));
  expect(countAtDeath).toBeGreaterThan(0);
  expect(countAtDeath).toBeLessThan(FILES);

  const again = await eventually(
    "the next daemon",
    () => runCommand(own.stateDir, ["--json", "apply", "web@", dir]),
    ({ stderr }) => !stderr.includes("DAEMON"),
  );
  expect(JSON.parse(again.stderr)).toMatchObject({ error: { code: "APPLY_UNFINISHED" } });
  const { exitCode } = await runCommand(own.stateDir, ["apply", option]);

  expect(exitCode).toBe(0);
  expect(countNew()).toBe(newCount);
  expect(readdirSync(dir).filter((name) => name.startsWith("."))).toEqual([]);
  await expect(own.waypoint.apply("web@", { paths: [dir], dryRun: true })).resolves.toMatchObject({
    totals: { written: newCount === 0 ? FILES + 1 : 0, conflicts: 0 },
  });
  const none = await runCommand(own.stateDir, ["--json", "apply", option]);
  expect(JSON.parse(none.stderr)).toMatchObject({ error: { code: "APPLY_NOT_FOUND" } });
});

test("an undo that is completed later is known as the undo that it is", async () => {
  const { operation } = await own.waypoint.apply("web@", { paths: [dir] });
  const undo = () => runCommand(own.stateDir, ["apply", "--undo"]);
  const countAtDeath = await killHalfWay(undo);
  expect(countAtDeath).toBeGreaterThan(0);
  expect(countAtDeath).toBeLessThan(FILES);

  const { exitCode } = await eventually(
    "the next daemon",
    () => runCommand(own.stateDir, ["apply", "--continue"]),
    ({ stderr }) => !stderr.includes("DAEMON"),
  );

  expect(exitCode).toBe(0);
  expect(countNew()).toBe(0);
  const log = await runCommand(own.stateDir, ["op", "log"]);
  expect(log.stdout).toContain(`took ${operation} back, on the machine`);
  expect(log.stdout).toContain(`undone by ${Number(operation) + 1}`);
  const twice = await runCommand(own.stateDir, ["apply", "--undo", String(operation)]);
  expect(twice).toMatchObject({ exitCode: 10, stderr: expect.stringContaining("no apply") });
});
