import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, GrepMatch, GrepOptions } from "../../src/index.ts";
import { finished, runCommand, startCommand } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let checkpoints: Checkpoint[];

beforeAll(async () => {
  own = await openTestWaypoint();
  const session = await own.waypoint.new({ name: "web", net: "none", env: { HOME: "/none" } });
  checkpoints = [];
  for (const line of [
    "mkdir /srv/app; echo needle one > /srv/app/a.txt; printf 'x\\0needle' > /srv/app/binary; echo 'needle \u001b[31mred' > /srv/app/$'new\\nline\\e\\xff'",
    "echo other > /srv/app/c.txt; printf 'nee%s\\n' dle-printed",
    "echo gone > /srv/app/a.txt; mkdir /srv/app/sub; echo third needle > /srv/app/sub/b.txt",
  ]) {
    await session.exec(line);
    checkpoints.push(await session.checkpoint());
  }
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

async function search(pattern: string, options: GrepOptions = {}) {
  const found: GrepMatch[] = [];
  for await (const match of own.waypoint.grep(pattern, options)) found.push(match);
  return found;
}

function grep(...args: string[]) {
  return runCommand(own.stateDir, ["grep", ...args]);
}

test("a text is found where it came, with how long it stood", async () => {
  const [one, two, three] = checkpoints.map(({ id }) => id);
  const found = await search("needle", { in: "files", session: "web" });
  const brief = found.map(({ checkpoint, path, line, text, until }) => [
    ...[checkpoint, path, line, text, until],
  ]);

  expect(brief).toEqual([
    [three, "/srv/app/sub/b.txt", 1, "third needle", three],
    [one, "/srv/app/a.txt", 1, "needle one", two],
    [one, "/srv/app/new\nline\u001b\ufffd", 1, "needle \u001b[31mred", three],
    [one, "/srv/app/binary", null, null, three],
  ]);
  expect(found[2]?.pathBase64).toBe(
    Buffer.from("/srv/app/new\nline\u001b\xff", "latin1").toString("base64"),
  );
});

test("what a command printed is found, once", async () => {
  const found = await search("^needle-printed$", { in: "outputs" });
  const kinds = found.map(({ checkpoint, kind }) => [checkpoint, kind]);

  expect(kinds).toEqual([
    [checkpoints[1]?.id, "command"],
    [checkpoints[1]?.id, "screen"],
  ]);
  expect(found[0]?.command).toContain("printf");
});

test("nothing in a name or a line reaches a terminal as it is", async () => {
  const { stdout, exitCode } = await grep("needle", "--files", "--path", "/srv/app");

  expect(exitCode).toBe(0);
  expect(stdout).not.toContain("\u001b");
  expect(stdout).toContain("/srv/app/new␊line␛�:1: needle ␛[31mred\n");
  expect(stdout).toContain("/srv/app/binary: binary file matches\n");
});

test("globs, plain text, case and lists of names", async () => {
  const [one, , three] = checkpoints.map(({ id }) => id);
  const byName = await grep("NEEDLE", "-i", "--path", "*.txt", "-l");
  const byPath = await grep("needle", "--path", "/srv/app/sub/**");
  const plain = await grep("-F", "x.needle");

  expect(byName.stdout).toBe(
    `${three}:/srv/app/sub/b.txt\n${one}..${checkpoints[1]?.id}:/srv/app/a.txt\n`,
  );
  expect(byPath.stdout).toBe(`${three}:/srv/app/sub/b.txt:1: third needle\n`);
  expect(plain.exitCode).toBe(1);
});

test("exit codes are those of grep", async () => {
  const codes = await Promise.all([
    ...[grep("needle"), grep("nowhere-at-all"), grep("("), grep("x", "nosuch")],
    ...[grep("x", "--files", "--outputs"), grep("([")],
  ]);

  expect(codes.map(({ exitCode }) => exitCode)).toEqual([0, 1, 2, 2, 2, 2]);
  expect(codes[2]?.stderr).toBe(
    'Error: The expression "(" is invalid: unmatched ( or \\(.\nHint:  With -F it is plain text.\n',
  );
  expect(codes[5]?.stderr).toContain('Error: The expression "([" is invalid.');
});

test("with JSON each match is a line, and the last line counts them", async () => {
  const { stdout } = await grep("needle", "--files", "--json");
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

  expect(lines).toHaveLength(5);
  expect(lines.at(-1)).toMatchObject({ matches: 4, checkpoints: 3, unread: [] });
});

test("a checkpoint that is removed meanwhile is named, and the search goes on", async () => {
  const other = await own.waypoint.new({ name: "other", net: "none" });
  await other.exec("echo straw > /srv/first");
  const { id } = await other.checkpoint();
  // More than the connection holds: the search waits for its reader before it goes on to the first.
  await other.exec("for i in $(seq 6000); do printf 'straw %2000d\\n' $i; done > /srv/last");
  await other.checkpoint();
  const searching = own.waypoint.grep("straw", { in: "files" });
  await searching.next();
  await other.remove({ force: true });
  let next = await searching.next();
  while (next.done !== true) next = await searching.next();

  expect(next.value.unread.join()).toContain(id);
  expect(await search("needle", { in: "files" })).toHaveLength(4);
});

test("Ctrl-C ends a search and the process that does it", async () => {
  const other = await own.waypoint.new({ name: "large", net: "none" });
  await other.exec("for i in 1 2 3 4; do head -c 200M /dev/urandom | base64 > /srv/l$i; done");
  await other.checkpoint({ filesOnly: true, name: "large" });
  const searching = startCommand(own.stateDir, ["grep", "(a|b)*c{9}(x|y)+\\1\\2q", "large"]);
  await eventually("grep to run", grepsOfDaemon, (count) => count > 0);
  searching.kill("SIGINT");
  await finished(searching);

  expect(await eventually("grep to end", grepsOfDaemon, (count) => count === 0)).toBe(0);
}, 180_000);

/** Counts the searches that the daemon has started; its other children build stories, and wait to be CRIU. */
async function grepsOfDaemon(): Promise<number> {
  const pid = await own.daemonPid();
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const commands = children.filter((child) => child !== "").map(commandOf);
  return commands.filter((command) => command !== "" && !/story\.mjs|-{100}/.test(command)).length;
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return ""; // It has ended meanwhile.
  }
}
