import { rmSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { runCommand } from "../support/command-line.ts";
import { failureOf } from "../support/failing-command.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(() => own[Symbol.asyncDispose]());

const cli = (...words: string[]) => runCommand(own.stateDir, words);

test("a checkpoint is named and described later, and keeps that without the catalog", async () => {
  const session = await own.waypoint.new({ name: "web", net: "none" });
  const checkpoint = await session.checkpoint({ durable: true });
  const { id } = checkpoint;
  await session.checkpoint({ name: "other" });

  const named = await cli("name", id, "green");
  const described = await cli("describe", "green", "the last one that worked");
  const taken = await failureOf(own, ["name", id, "other"]);
  const wrong = await failureOf(own, ["name", id, "a b"]);
  const again = await cli("name", id, "green");
  const log = await cli("log", "web");
  await cli("name", "web");
  const later = await checkpoint.describe("the very last");
  const { name } = await checkpoint.setName("greener");
  await checkpoint.setName("green");
  await callOperation(own.stateDir, "daemon.stop", {});
  for (const end of ["", "-wal", "-shm"]) {
    rmSync(path.join(own.stateDir, `catalog.sqlite${end}`), { force: true });
  }
  const shown = await own.waypoint.show("green");

  expect(named.stdout).toBe(`Checkpoint ${id} is green now.\n`);
  expect(described.stdout).toBe(`Checkpoint ${id}: green the last one that worked\n`);
  expect([taken.error.code, wrong.error.code]).toEqual(["NAME_IN_USE", "NAME_INVALID"]);
  expect(again.exitCode).toBe(0);
  expect(log.stdout).toContain("green the last one that worked");
  expect(shown).toMatchObject({ id, name: "green", intent: "the very last" });
  expect([later.intent, name]).toEqual(["the very last", "greener"]);
  expect((await failureOf(own, ["show", "other"])).error.code).toBe("CHECKPOINT_NOT_FOUND");
});
