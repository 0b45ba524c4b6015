import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { runCommand } from "../support/command-line.ts";
import { openTestWaypoint } from "../support/test-waypoint.ts";

test("the log of operations has an apply, and undo takes it back by its number", async () => {
  await using own = await openTestWaypoint();
  using directory = temporaryDirectory();
  const file = path.join(directory.path, "a.txt");
  writeFileSync(file, "before\n");
  // A session begins from what was there a moment before it.
  await delay(50);
  const session = await own.waypoint.new({ name: "web", net: "none" });
  await session.exec(`echo brought > ${file}`);
  await session.checkpoint();
  const { operation } = await callOperation(own.stateDir, "apply", {
    ...{ checkpoint: "web@", paths: [{ path: directory.path }] },
  });
  expect(readFileSync(file, "utf8")).toBe("brought\n");

  const log = await runCommand(own.stateDir, ["op", "log", "web"]);
  const undone = await runCommand(own.stateDir, ["undo", "web", String(operation)]);

  expect(log.stdout).toContain(`waypoint undo web ${operation}`);
  expect(undone).toMatchObject({ exitCode: 0 });
  expect(readFileSync(file, "utf8")).toBe("before\n");
  const { stdout } = await runCommand(own.stateDir, ["op", "log", "web"]);
  expect(stdout).toContain(`undone by ${Number(operation) + 1}`);
  expect(stdout).toContain(`took ${operation} back, on the machine`);
});

function temporaryDirectory(): { path: string } & Disposable {
  const directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-apply-"));
  return {
    path: directory,
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
