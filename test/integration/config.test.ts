import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { finished, startCommand, WAYPOINT_COMMAND } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { Tmux } from "../support/tmux.ts";

const COLOUR = "\u001b[";

let own: TestWaypoint;
let home: string;
let directory: string;

beforeAll(async () => {
  own = await openTestWaypoint();
});

beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), "waypoint-home-"));
  directory = path.join(home, "project");
  mkdirSync(path.join(home, ".config", "waypoint"), { recursive: true });
  mkdirSync(directory);
});

afterEach(() => rmSync(home, { recursive: true }));

afterAll(() => own[Symbol.asyncDispose]());

const userFile = () => path.join(home, ".config", "waypoint", "config.toml");
const directoryFile = () => path.join(directory, ".waypoint.toml");
const environment = () => {
  const { NO_COLOR: _no, XDG_CONFIG_HOME: _xdg, ...rest } = process.env;
  return { ...rest, HOME: home };
};

/** Runs `waypoint` as a user of this home, who stands in the directory. */
async function waypoint(...words: string[]) {
  return await finished(startCommand(own.stateDir, words, { cwd: directory, env: environment() }));
}

test("keys are set, shown with where they are set, and removed; no daemon is needed", async () => {
  const nowhere = path.join(home, "no-daemon");
  const config = async (...words: string[]) =>
    await finished(
      startCommand(nowhere, ["config", ...words], { cwd: directory, env: environment() }),
    );

  await config("detach-keys", "ctrl-a,d");
  const spaced = await config("verify", "--", "npm", "run", "a b");
  const set = await config("verify", "--", "npm", "test");
  await config("noise", "*.log", "coverage", "--directory");
  const shown = await config();
  const one = await config("verify");
  const told = JSON.parse((await config("--json")).stdout);
  await config("--unset", "verify");
  const refused = await config("auto", "sometimes");
  const unknown = await config("colors");

  expect(spaced.stdout).toBe(`verify is npm run 'a b' in ${userFile()}\n`);
  expect(set.stdout).toBe(`verify is npm test in ${userFile()}\n`);
  expect(shown.stdout).toMatch(/^detach-keys +ctrl-a,d +user: \/.*config\.toml, line 1$/m);
  expect(shown.stdout).toMatch(
    /^noise +\*\.log coverage +directory: \/.*\.waypoint\.toml, line 1$/m,
  );
  expect(shown.stdout).toMatch(/^colours +auto +built-in$/m);
  expect(one.stdout).toBe("npm test\n");
  expect(told.settings[0]).toMatchObject({ key: "verify", value: ["npm", "test"], line: 2 });
  expect(readFileSync(userFile(), "utf8")).toBe('detach-keys = "ctrl-a,d"\n');
  expect([refused.exitCode, unknown.exitCode]).toEqual([2, 2]);
  expect(unknown.stderr).toContain("verify, auto, detach-keys, base, approve, colours, noise");
});

test("a new session has the user's base, policy and verify command, and is marked by it", async () => {
  writeFileSync(userFile(), 'verify = "test -e /srv/good"\nauto = "task"\nbase = "/"\n');

  const made = await waypoint("new", "work", "--net", "none", "--json");
  await waypoint("exec", "work", "--", "touch", "/srv/good");
  const marked = await waypoint("checkpoint", "work", "--verify");
  const log = await waypoint("log", "work");
  await waypoint("new", "typed", "--net", "none", "--auto", "manual");
  const auto = JSON.parse((await waypoint("auto", "typed", "--json")).stdout);
  writeFileSync(userFile(), 'base = "not-kept"\n');
  const noBase = await waypoint("new", "never");
  const ownBase = await waypoint("new", "never", "--base", "typed-here");

  expect(JSON.parse(made.stdout)).toMatchObject({
    ...{ base: "/", verifyCommand: "test -e /srv/good", auto: { policy: "task" } },
  });
  expect(marked.exitCode).toBe(0);
  expect(log.stdout).toMatch(/^work is verified with test -e \/srv\/good\n(.*\n)*.* ✓ /);
  expect(JSON.stringify(auto)).toContain('"policy":"manual"');
  expect(noBase.stderr).toContain(`The base is the one that ${userFile()} sets, line 1.`);
  expect(noBase.stderr).toContain("not-kept");
  expect(ownBase.stderr).not.toContain(userFile());
  expect(noBase.exitCode).toBe(10);
});

test("what a directory wants to have run is not run before that very file is allowed", async () => {
  writeFileSync(directoryFile(), 'verify = "touch /srv/ran"\ncolours = "always"\n');

  const held = await waypoint("new", "held", "--net", "none");
  const before = JSON.parse((await waypoint("ls", "--json")).stdout);
  const allowed = await waypoint("config", "--allow");
  const taken = await waypoint("new", "taken", "--net", "none", "--json");
  writeFileSync(directoryFile(), 'verify = "touch /srv/other"\n');
  const again = await waypoint("new", "again", "--net", "none");

  expect(held.exitCode).toBe(0);
  expect(held.stderr).toContain(`${directoryFile()} sets verify, which`);
  expect(held.stderr).toContain("`waypoint config --allow`");
  expect(before.sessions).toContainEqual(
    expect.objectContaining({ name: "held", verifyCommand: null }),
  );
  expect(allowed.stdout).toContain("verify = touch /srv/ran");
  expect(JSON.parse(taken.stdout)).toMatchObject({ verifyCommand: "touch /srv/ran" });
  expect(again.stderr).toContain("sets verify, which");
});

test("what one sets in a directory oneself is taken; what was there of others is not", async () => {
  const verifyOf = async () =>
    JSON.parse((await waypoint("config", "verify", "--json")).stdout) as unknown;

  await waypoint("config", "verify", "make check", "--directory");
  expect(await verifyOf()).toMatchObject({ value: "make check", source: "directory" });

  writeFileSync(directoryFile(), '# of others\nverify = "touch /srv/ran"\n');
  await waypoint("config", "colours", "never", "--directory");
  expect(await verifyOf()).toMatchObject({ value: null, source: "built-in" });
  expect(readFileSync(directoryFile(), "utf8")).toBe(
    '# of others\nverify = "touch /srv/ran"\ncolours = "never"\n',
  );
});

test("a secret in the verify command is shown to nobody", async () => {
  const set = await waypoint("config", "verify", "API_TOKEN=hunter2 npm test");
  const shown = [set, await waypoint("config"), await waypoint("config", "--json")];

  expect(readFileSync(userFile(), "utf8")).toContain("hunter2");
  for (const { stdout, stderr } of shown) expect(stdout + stderr).not.toContain("hunter2");
  expect(set.stdout).toContain("API_TOKEN=•••");
});

test("a line of the log names no file that is noise, but counts it; colours are as chosen", async () => {
  const session = await own.waypoint.new({ name: "noisy", net: "none" });
  await session.checkpoint();
  await session.exec("echo 1 > /srv/app.js; echo 1 > /srv/trace.txt");
  await session.checkpoint();
  const plain = await eventually(
    "the story",
    () => waypoint("log", "noisy"),
    ({ stdout }) => stdout.includes("+ /srv/"),
  );
  writeFileSync(directoryFile(), 'noise = ["trace.*"]\ncolours = "always"\n');

  const hidden = await waypoint("log", "noisy");
  const uncoloured = await waypoint("log", "noisy", "--no-color");
  const noColor = await finished(
    startCommand(own.stateDir, ["log", "noisy"], {
      ...{ cwd: directory, env: { ...environment(), NO_COLOR: "1" } },
    }),
  );

  expect(plain.stdout).toContain("+ /srv/app.js, + /srv/trace.txt");
  expect(plain.stdout).not.toContain(COLOUR);
  expect(hidden.stdout).toContain(COLOUR);
  expect(uncoloured.stdout).toContain(" · + /srv/app.js, +1 file");
  expect(uncoloured.stdout).not.toContain("+ /srv/trace.txt");
  expect(noColor.stdout).toBe(uncoloured.stdout);
});

test("a file that cannot be written is named with the reason, and is no defect", async () => {
  rmSync(path.join(home, ".config"), { recursive: true });
  writeFileSync(path.join(home, ".config"), "");

  const { exitCode, stderr } = await waypoint("config", "colours", "never");

  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^Error: \S+config\.toml cannot be written\.\nCause: +ENOTDIR/m);
});

test("the user's keys detach, on a terminal", async () => {
  await own.waypoint.new({ name: "left", net: "none" });
  writeFileSync(userFile(), 'detach-keys = "ctrl-a,q"\n');
  // A directory that could choose them would choose when a line goes to the host's shell.
  writeFileSync(directoryFile(), 'detach-keys = "x"\n');
  const line =
    `cd ${directory}; HOME=${home} ${WAYPOINT_COMMAND} --dir ${own.stateDir} attach left ` +
    `2> ${home}/said; echo exit=$?`;

  await using terminal = await Tmux.start(line);
  await terminal.shows(/[#$%>] *$/m);
  const said = readFileSync(path.join(home, "said"), "utf8");
  expect(said).toContain("Attached to left; Ctrl-a q detaches.");
  await terminal.type("echo x\r");
  await terminal.shows(/^x$/m);
  await terminal.type("\u0001q");
  await terminal.shows(/exit=0/);
});

test("with a broken file one still gets out, and is told the file, the line and the key", async () => {
  writeFileSync(userFile(), 'colours = "auto"\nauto = "API_KEY=hunter2"\n');
  await own.waypoint.new({ name: "gone", net: "none" });

  const refused = await waypoint("new", "never");
  const shown = await waypoint("config");
  const changed = await waypoint("config", "colours", "never");
  const works = [
    ...[await waypoint("--help"), await waypoint("--version"), await waypoint("ls")],
    ...[await waypoint("daemon", "status"), await waypoint("rm", "--force", "gone")],
  ];

  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toContain(`${userFile()}, line 2: auto takes manual or off, or`);
  expect(refused.stderr).not.toContain("hunter2");
  expect(shown.stdout).toMatch(/^auto +- +built-in$/m);
  expect(shown.stderr).toContain(`Not used: ${userFile()}, line 2: auto`);
  expect(changed.exitCode).toBe(2);
  expect(works.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 0]);
});

test("new sessions have the policy of approvals that the user's file sets, or a typed one", async () => {
  const policy = path.join(home, "policy.json");
  writeFileSync(policy, '{"defaults": false, "commands": [["deploy"]]}');
  writeFileSync(userFile(), `approve = "${policy}"\n`);
  writeFileSync(directoryFile(), 'approve = "off"\n');
  const policyOf = async (name: string) =>
    JSON.parse((await waypoint("--json", "approval", name)).stdout).commands;

  const made = await waypoint("new", "policy-1");
  expect(made).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("sets approve") });
  expect(await policyOf("policy-1")).toEqual([["deploy"]]);
  await waypoint("config", "--allow");
  const vain = await waypoint("new", "policy-2");
  expect(vain.stderr).toContain("in vain");
  expect(await policyOf("policy-2")).toEqual([["deploy"]]);
  expect((await waypoint("new", "policy-3", "--approve", "off")).exitCode).toBe(0);
  expect(await policyOf("policy-3")).toEqual([]);

  rmSync(policy);
  const gone = await waypoint("new", "never");
  expect(gone).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(policy) });
  expect((await waypoint("ls")).stdout).not.toContain("never");
  for (const name of ["policy-1", "policy-2", "policy-3"]) await waypoint("rm", "--force", name);
});
