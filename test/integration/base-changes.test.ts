import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { TestBases } from "../support/bases.ts";
import { runCommand, WAYPOINT_COMMAND } from "../support/command-line.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { Tmux } from "../support/tmux.ts";

const made = new TestBases();
let own: TestWaypoint;
let base: string;
let session: Session;
let checkpoint: Checkpoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  base = await made.makeBusybox("root");
  mkdirSync(path.join(base, "srv"));
  for (const name of ["same", "theirs", "mine", "moved", "gone"]) {
    writeFileSync(path.join(base, "srv", name), "then\n");
  }
  session = await own.waypoint.new({ name: "web", base });
  await session.exec("echo mine > /srv/mine; rm /srv/gone");
  checkpoint = await session.checkpoint({ name: "then" });
  await (await own.waypoint.new({ name: "still", base })).checkpoint();
  writeFileSync(path.join(base, "srv", "theirs"), "now\n");
  writeFileSync(path.join(base, "srv", "mine"), "now\n");
  writeFileSync(path.join(base, "srv", "gone"), "now\n");
  writeFileSync(path.join(base, "srv", "new\nline"), "");
  renameSync(path.join(base, "srv", "moved"), path.join(base, "srv", "elsewhere"));
}, 120_000);

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
  made[Symbol.dispose]();
});

async function cli(...args: string[]) {
  return await runCommand(own.stateDir, args);
}

test("what has changed below a checkpoint is told, but what its session had written", async () => {
  const changed = await own.waypoint.bases.changes(checkpoint);

  expect(changed).toMatchObject({ base, isLive: true, count: 3, isComplete: true });
  expect(changed.files.map((file) => file.path).toSorted()).toEqual([
    "/srv/elsewhere",
    "/srv/new\nline",
    "/srv/theirs",
  ]);
  expect((await own.waypoint.bases.changes(await session.checkpoint())).count).toBe(0);
});

test("cat says that a file is the base's of now, where it is another than then", async () => {
  const theirs = await cli("cat", "then:/srv/theirs");
  const others = await cli("cat", "then:/srv/same", "then:/srv/mine");

  expect(theirs.stdout).toBe("now\n");
  expect(theirs.stderr).toMatch(
    /^\/srv\/theirs is the base's file of now: it was changed at \S+, and \w+ is of \S+Z\.$/m,
  );
  expect(others).toEqual({ stdout: "then\nmine\n", stderr: "", exitCode: 0 });
  const json = await cli("cat", "--json", "then:/srv/theirs");
  expect(JSON.parse(json.stdout).notices).toEqual([theirs.stderr.trim()]);
  const lost = await cli("cat", "then:/srv/nothing");
  expect(lost.stderr).toContain("What its base has lost since then is not known.");
});

test("cp says it too, with their number where there are several", async () => {
  const one = await cli("cp", "then:/srv/theirs", path.join(own.stateDir, "copy"));
  const all = await cli("cp", "then:/srv", path.join(own.stateDir, "copies"));

  expect(one.stderr).toMatch(/^\/srv\/theirs is the base's file of now: it was changed at /m);
  expect(all.stderr).toMatch(
    /^3 files are the base's of now, not of then: \/srv\/\S+ was changed at /m,
  );
});

test("those below a path are told alone", async () => {
  const { stdout } = await cli("diff", "then", "web", "/srv/theirs", "--base-changes");

  expect(stdout).toContain(`Not as they were: 1 file of the base ${base}, changed since`);
});

test.each([
  ["show", ["show", "then"]],
  ["log", ["log", "web"]],
  ["diff", ["diff", "then", "web"]],
  ["restore", ["restore", "web", "then", "--dry-run"]],
])("%s lists them with --base-changes, in JSON too", async (_name, line) => {
  const { stdout } = await cli(...line, "--base-changes");
  const json = await cli(...line, "--base-changes", "--json");

  expect(stdout).toContain(
    `Not as they were: 3 files of the base ${base}, changed since ${checkpoint.id}:`,
  );
  expect(stdout).toMatch(/^ {2}\/srv\/theirs {2}4 B, \d+s ago$/m);
  expect(stdout).toContain("/srv/new␊line");
  expect(JSON.parse(json.stdout).baseChanges).toMatchObject({
    count: 3,
    checkpoint: checkpoint.id,
  });
  expect(JSON.parse((await cli(...line, "--json")).stdout).baseChanges).toBeUndefined();
});

test("a person is told how many there are, and what the check did not look at", async () => {
  const line = `${WAYPOINT_COMMAND} --dir ${own.stateDir} --no-pager log web; echo exit $?; read _`;
  await using terminal = await Tmux.start(line, { columns: 300, rows: 40 });
  const screen = await terminal.shows(/exit 0/);
  expect(screen).toMatch(/changed since \w+.*: --base-changes\s+lists them\./s);

  const status = `${WAYPOINT_COMMAND} --dir ${own.stateDir} status still; echo exit $?; read _`;
  await using other = await Tmux.start(status, { columns: 300, rows: 40 });
  expect(await other.shows(/exit 0/)).toMatch(
    /changed since \w+.*: `waypoint show \w+\s+--base-changes`/s,
  );

  const back = await cli("restore", "web", "then", "--yes", "--base-changes");
  expect(back.stdout).toContain("Not as they were: 3 files of the base");
  expect(back.stdout).toMatch(
    /^Checked: files that the session wrote, processes, ports are as planned\.$/m,
  );
});

test("a kept base has no changes to tell", async () => {
  await own.waypoint.bases.add({ name: "kept", from: base });
  const still = await own.waypoint.new({ name: "kept", base: "kept" });
  const there = await still.checkpoint();

  expect(await own.waypoint.bases.changes(there)).toMatchObject({
    isLive: false,
    count: 0,
    files: [],
  });
  expect((await cli("show", there.id, "--base-changes")).stdout).not.toContain("changed since");
});

test("on the machine's own root what a session cannot see does not count", async () => {
  const host = await own.waypoint.new({ name: "host", binds: [{ source: base, target: base }] });
  const before = await host.checkpoint();
  const directory = made.path("of-the-host");
  mkdirSync(directory);
  writeFileSync(path.join(directory, "seen"), "");
  writeFileSync(path.join(base, "bound"), "");
  writeFileSync(path.join(own.stateDir, "hidden"), "");

  const { files } = await own.waypoint.bases.changes(before);
  const paths = files.map((file) => file.path);
  expect(paths).toContain(path.join(directory, "seen"));
  expect(paths).not.toContain(path.join(base, "bound"));
  expect(paths.filter((each) => each.startsWith(own.stateDir))).toEqual([]);
  rmSync(path.join(own.stateDir, "hidden"));
}, 120_000);
