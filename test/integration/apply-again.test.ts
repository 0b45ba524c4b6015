import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

// A person works on the machine between one apply and the next.

const LINES = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

let own: TestWaypoint;
let session: Session;
let dir: string;
let number = 0;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

beforeEach(async () => {
  dir = mkdtempSync(path.join(os.tmpdir(), "waypoint-again-"));
  number += 1;
  for (const name of ["text", "content", "rights", "forced"]) write(name, textWith({}));
  // A session begins from what was there a moment before it.
  await delay(50);
  session = await own.waypoint.new({ name: `web${number}`, net: "none" });
  await work("sed -i 2s/2/session/ text content forced; chmod 755 rights");
  write("text", textWith({ 7: "person" }));
  chmodSync(at("content"), 0o600);
  write("rights", textWith({ 7: "person" }));
  return async () => {
    await callOperation(own.stateDir, "rm", { session: session.name, force: true });
    rmSync(dir, { recursive: true, force: true });
  };
});

const at = (name: string) => path.join(dir, name);
const read = (name: string) => readFileSync(at(name), "utf8");
const modeOf = (name: string) => statSync(at(name)).mode & 0o777;
const apply = (more: object = {}) =>
  callOperation(own.stateDir, "apply", {
    ...{ checkpoint: `${session.name}@`, paths: [{ path: dir }] },
    ...more,
  });
const takeBack = () => callOperation(own.stateDir, "apply.undo", {});

/** As an editor writes: a file of its own takes the place. */
function write(name: string, text: string): void {
  writeFileSync(at(`${name}.new`), text);
  renameSync(at(`${name}.new`), at(name));
}

function textWith(lines: Readonly<Record<number, string>>): string {
  return LINES.map((line) => `${lines[Number(line)] ?? line}\n`).join("");
}

/** Runs a line in the session, and returns when what the base had is noted. */
async function work(line: string): Promise<void> {
  await session.exec(`cd ${dir} && ${line}`);
  const { id } = await session.checkpoint();
  await own.waypoint.show(id);
}

/** What both sides have done, whatever came in between. */
function expectBoth(): void {
  expect(read("text")).toBe(textWith({ 2: "session", 7: "person" }));
  expect(read("content")).toBe(textWith({ 2: "session" }));
  expect(modeOf("content")).toBe(0o600);
  expect(read("rights")).toBe(textWith({ 7: "person" }));
  expect(modeOf("rights")).toBe(0o755);
}

test("what was joined, taken back and applied again is joined again", async () => {
  await apply();
  expectBoth();
  await takeBack();
  expect(read("text")).toBe(textWith({ 7: "person" }));

  await apply();

  expectBoth();
  expect((await apply()).isDone).toBe(false);
});

test("an apply that was put back by hand is undone, and the one before it is the last", async () => {
  await apply({ paths: [{ path: at("forced") }] });
  await apply({ paths: [{ path: at("rights") }] });
  chmodSync(at("rights"), 0o644);

  expect((await takeBack()).isDone).toBe(false);
  expect((await takeBack()).isDone).toBe(true);

  expect(read("forced")).toBe(textWith({}));
  expect(read("rights")).toBe(textWith({ 7: "person" }));
});

test("the session goes on after a join, and what the person has done stays", async () => {
  await apply();
  // Its own line goes back, another one comes; it has never seen the person's.
  await work("sed -i -e 2s/session/2/ -e 4s/4/later/ text; echo more >> content; chmod 711 rights");

  await apply();

  expect(read("text")).toBe(textWith({ 4: "later", 7: "person" }));
  expect(read("content")).toBe(`${textWith({ 2: "session" })}more\n`);
  expect(modeOf("content")).toBe(0o600);
  expect(read("rights")).toBe(textWith({ 7: "person" }));
  expect(modeOf("rights")).toBe(0o711);
});

test("the same after the join was taken back and that was taken back", async () => {
  await apply();
  await takeBack();
  await takeBack();
  expectBoth();
  await work("sed -i 4s/4/later/ text");

  await apply();

  expect(read("text")).toBe(textWith({ 2: "session", 4: "later", 7: "person" }));
});

test("what is here already, with more, is not written again", async () => {
  write("forced", textWith({ 2: "session", 7: "person" }));

  const done = await apply();

  expect(done.steps.map(({ path: each }) => path.basename(each))).not.toContain("forced");
  expect(read("forced")).toBe(textWith({ 2: "session", 7: "person" }));
});

test("what was forced over a person's work and taken back is in conflict again", async () => {
  write("forced", "the person's\n");
  await expect(apply()).rejects.toMatchObject({ code: "APPLY_CONFLICT" });
  await apply({ force: true });
  expect(read("forced")).toBe(textWith({ 2: "session" }));
  await takeBack();

  await expect(apply()).rejects.toMatchObject({ code: "APPLY_CONFLICT", detail: { total: 1 } });

  expect(read("forced")).toBe("the person's\n");
});

test("a large file that a person has deleted since is in conflict, however it was written", async () => {
  write("large", "x".repeat(600 * 1024));
  await delay(50);
  // A session begins from what was there a moment before it changes a path.
  await work("true");
  await work("{ cat large; echo more; } > large.new && mv large.new large");
  rmSync(at("large"));

  const paths = [{ path: at("large") }];
  await expect(apply({ paths })).rejects.toMatchObject({
    code: "APPLY_CONFLICT",
    detail: { conflicts: [{ kind: "changed-deleted" }] },
  });
});

test("a path that is in neither the session nor its base is an error, and nothing is written", async () => {
  await session.checkpoint();

  const applied = apply({ paths: [{ path: `${dir}/no-such-thing` }] });

  await expect(applied).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
});
