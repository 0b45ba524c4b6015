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

test("tags are shared, filtered by, taken away, and kept without the catalog", async () => {
  const session = await own.waypoint.new({ name: "tags", net: "none" });
  const first = await session.checkpoint({ name: "first", durable: true });
  await session.exec("touch /srv/more");
  await session.checkpoint({ name: "second" });

  const given = await cli("tag", "first", "good", "demo");
  await cli("tag", "second", "good");
  const wrong = await cli("tag", "first", "a b");
  const nothing = await cli("tag", "first");
  const { tags } = await first.tag({ remove: ["demo"], add: ["kept"] });
  const log = await cli("log", "tags");
  const filtered = await cli("log", "tags", "--tag", "kept", "--json");
  await callOperation(own.stateDir, "daemon.stop", {});
  for (const end of ["", "-wal", "-shm"]) {
    rmSync(path.join(own.stateDir, `catalog.sqlite${end}`), { force: true });
  }

  expect(given.stdout).toMatch(/is tagged demo, good\.\n$/);
  expect([wrong.exitCode, nothing.exitCode]).toEqual([2, 2]);
  expect(tags).toEqual(["good", "kept"]);
  expect(log.stdout).toContain("first #good #kept");
  const { checkpoints } = JSON.parse(filtered.stdout) as { checkpoints: { name: string }[] };
  expect(checkpoints.map(({ name }) => name)).toEqual(["first"]);
  expect((await own.waypoint.show("first")).tags).toEqual(["good", "kept"]);
});
