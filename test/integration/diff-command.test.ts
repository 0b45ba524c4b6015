import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const CLI = fileURLToPath(new URL("../../dist/cli.cjs", import.meta.url));

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  const session = await own.waypoint.new({ name: "web", net: "none", env: { HOME: "/none" } });
  await session.exec("echo one > /srv/file");
  await session.checkpoint({ name: "before" });
  await session.exec("echo two > /srv/file; touch \"$(printf '/srv/\\033[31m')\"; mkdir /srv/dir");
  await session.checkpoint({ name: "after" });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

function waypoint(...args: string[]): Promise<{ stdout: string; stderr: string; code: unknown }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, "--dir", own.stateDir, ...args], (error, stdout, stderr) =>
      resolve({ stdout, stderr, code: error?.code ?? 0 }),
    );
  });
}

test("names alone are safe for a terminal, and the exit code says that something differs", async () => {
  expect(await waypoint("diff", "before", "after", "/srv", "--name-only")).toEqual({
    stdout: "+ /srv/␛[31m\n+ /srv/dir/\n~ /srv/file\n",
    stderr: "",
    code: 1,
  });
});

test("the lines of a text follow the list", async () => {
  const { stdout, code } = await waypoint("diff", "before", "after", "/srv/file");

  expect(code).toBe(1);
  expect(stdout).toContain(
    "~ /srv/file  4 B\n\n--- a/srv/file\n+++ b/srv/file\n@@ -1 +1 @@\n-one\n+two\n",
  );
});

test("where nothing differs the exit code is 0, as with JSON", async () => {
  const same = await waypoint("diff", "after", "web", "--name-only");
  const json = await waypoint("diff", "after", "web@", "--json");

  expect(same).toEqual({ stdout: "", stderr: "", code: 0 });
  expect(json.code).toBe(0);
  expect(JSON.parse(json.stdout)).toMatchObject({ files: [], summary: "" });
});

test("some sections alone are compared, and decide on the exit code", async () => {
  const files = await waypoint("diff", "before", "after", "--stat", "--section", "files,env");
  const ports = await waypoint("diff", "before", "after", "--section", "ports");
  const json = await waypoint("diff", "before", "after", "--section", "packages", "--json");
  const wrong = await waypoint("diff", "before", "after", "--section", "colours");

  expect([files.code, files.stdout.split("\n")[0]]).toEqual([1, "+ /srv/␛[31m  0 B"]);
  expect(ports).toEqual({ stdout: "", stderr: "", code: 0 });
  expect(JSON.parse(json.stdout)).toMatchObject({ files: null, fileTotals: null, packages: [] });
  expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
});

test("a checkpoint is shown with files, commands and their output, whole or by section", async () => {
  const whole = await waypoint("show", "after");
  const files = await waypoint("show", "after", "--section", "files");
  const commands = await waypoint("show", "after", "--section", "commands");

  expect(whole.stdout).toContain("\nFiles\n+ /srv/␛[31m  0 B\n+ /srv/dir/\n~ /srv/file  4 B\n");
  expect(whole.stdout).toMatch(/\nCommands\nEXIT +TOOK +COMMAND\n +0 +\d/);
  expect(files.stdout).toBe("Files\n+ /srv/␛[31m  0 B\n+ /srv/dir/\n~ /srv/file  4 B\n");
  expect(commands.stdout).toMatch(/^Commands\n.*\n +0 .+echo two > \/srv\/file/);
});

/** A second may pass between two looks. */
function withoutAge(shown: string): string {
  return shown.replace(/ \(\S+ ago\)$/m, "");
}

test("a session alone is compared with where it stands, a checkpoint alone with its session", async () => {
  const session = await waypoint("diff", "web", "--name-only");
  const both = await waypoint("diff", "web@", "web", "--name-only");
  const checkpoint = await waypoint("diff", "before", "--name-only");
  const below = await waypoint("diff", "before", "/srv/dir", "--name-only");
  const shown = await waypoint("show", "web");
  const typo = await waypoint("show", "wbe");

  expect(session).toEqual(both);
  expect(checkpoint).toEqual(await waypoint("diff", "before", "web", "--name-only"));
  expect(checkpoint.stdout).toContain("/srv/file");
  expect(below.stdout).toBe("+ /srv/dir/\n");
  const named = await waypoint("show", "after");
  expect(withoutAge(shown.stdout)).toBe(withoutAge(named.stdout));
  expect(typo.stderr).toContain("Did you mean web? `waypoint log` lists the checkpoints.");
});

test("what does not exist is an error, not a difference", async () => {
  const { code, stderr } = await waypoint("diff", "before", "nosuch");

  expect(code).toBe(10);
  expect(stderr).toContain('There is no checkpoint or session "nosuch".');
});

test("the timeline and a checkpoint tell what changed in brief", async () => {
  const log = await waypoint("log", "web", "--json");
  const show = await waypoint("show", "after");

  expect(JSON.parse(log.stdout).checkpoints[1].changes).toEqual({
    summary: "~ /srv/file, + /srv/\u001b[31m",
  });
  expect(show.stdout).toMatch(/^Changes: +~ \/srv\/file, \+ \/srv\/␛\[31m$/m);
});

test("a relative path begins where the shell was, and one that is on neither side is an error", async () => {
  await waypoint("exec", "web", "--", "cd /srv");
  const relative = await waypoint("diff", "before", "web", "file", "--name-only");
  const absolute = await waypoint("diff", "before", "web", "/srv/file", "--name-only");
  const typo = await waypoint("diff", "before", "web", "fiel");
  const nowhere = await waypoint("diff", "before", "web", "/srv/fiel");

  expect(relative).toEqual(absolute);
  expect(relative.stdout).toContain("/srv/file");
  for (const { code, stdout, stderr } of [typo, nowhere]) {
    expect({ code, stdout }).toEqual({ code: 10, stdout: "" });
    expect(stderr).toContain("There is no /srv/fiel in ");
  }
});
