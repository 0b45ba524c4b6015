import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestBases } from "../support/bases.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const run = promisify(execFile);
const made = new TestBases();
let own: TestWaypoint;
let from: string;

beforeAll(async () => {
  own = await openTestWaypoint();
  from = await made.makeBusybox("root");
}, 120_000);

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
  made[Symbol.dispose]();
});

test("an apply goes into what the base is a copy of, three-way", async () => {
  const { waypoint } = own;
  writeFileSync(path.join(from, "plan"), "1\n2\n3\n4\n5\n6\n");
  await waypoint.bases.add({ name: "planned", from });
  const session = await waypoint.new({ name: "planner", base: "planned" });
  await session.exec("sed -i s/6/six/ /plan");
  const checkpoint = await session.checkpoint();
  writeFileSync(path.join(from, "plan"), "one\n2\n3\n4\n5\n6\n");

  const applied = await waypoint.apply(checkpoint, { paths: ["/plan"] });

  expect(applied).toMatchObject({ isDone: true, target: from });
  expect(readFileSync(path.join(from, "plan"), "utf8")).toBe("one\n2\n3\n4\n5\nsix\n");

  const archive = made.path("planned.tar");
  await run("tar", ["-cf", archive, "-C", from, "bin"]);
  await waypoint.bases.add({ name: "archived", from: archive });
  const other = await waypoint.new({ name: "other", base: "archived" });
  await other.exec("echo new > /new");
  const there = await other.checkpoint();
  await expect(waypoint.apply(there)).rejects.toMatchObject({ code: "USAGE_INVALID" });
}, 60_000);
