import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runCommand, runShellLine } from "../support/command-line.ts";
import { failureOf } from "../support/failing-command.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Traces its child: whatever is traced cannot be captured. */
const UNDUMPABLE = `import ctypes, os, time
child = os.fork()
if child == 0: time.sleep(1000)
ctypes.CDLL(None).ptrace(0x4206, child, 0, 0)
print("ready", flush=True)
time.sleep(1000)`;

let own: TestWaypoint;
let web: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  web = await own.waypoint.new({ name: "web", net: "none" });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

describe("the state directory", () => {
  test.each(["ls", "exec web -- true", "daemon status"])(
    "without a name it is refused: %s",
    async (line) => {
      const { stderr, exitCode } = await runCommand("", line.split(" "));

      expect(stderr).toMatch(/^Error: The state directory that was given has no name\.\nHint: /);
      expect(exitCode).toBe(2);
    },
  );

  test.each(["ls", "daemon"])("where none can be made it is refused at once: %s", async (name) => {
    const { stderr, exitCode } = await runCommand("/proc/nothing", [name]);

    expect(stderr).toContain("Error: /proc/nothing cannot be a state directory.");
    expect(exitCode).toBe(2);
  });
});

describe("output to a full disk", () => {
  test.each([
    ["$W ls > /dev/full", 2],
    ["$W --help > /dev/full", 2],
    ["$W exec web -- echo text > /dev/full", 2],
  ])("is one sentence: %s", async (line, expected) => {
    const { stderr, exitCode } = await runShellLine(own.stateDir, line);

    expect(stderr).toMatch(/^Error: Standard output could not be written \(ENOSPC.*\)\.\nHint: /);
    expect(exitCode).toBe(expected);
  });
});

describe("exec and run", () => {
  test.each(["exec web --timeout 0 -- true", "exec web", "run --memory 1 --name tiny -- true"])(
    "end with 2 for a mistake of the call, before and after it is parsed: %s",
    async (line) => {
      const { stderr, exitCode } = await runCommand(own.stateDir, line.split(" "));

      expect({ stderr, exitCode }).toEqual({
        stderr: expect.stringMatching(/\nHint: +\S/),
        exitCode: 2,
      });
    },
  );
});

describe("for programs", () => {
  test("the version is JSON, and a call without a command is one error", async () => {
    const version = await runCommand(own.stateDir, ["--json", "-V"]);
    const nothing = await failureOf(own, []);

    expect(JSON.parse(version.stdout)).toEqual({ version: expect.any(String) });
    expect(nothing).toMatchObject({ error: { code: "USAGE_INVALID" }, exitCode: 2 });
  });

  test.each([
    ["exec web --timeout 1e9 -- true", "at most 86400"],
    ["fork web@ -n 100000", "from 1 to 256"],
  ])("limits are said in words: %s", async (line, words) => {
    const { error } = await failureOf(own, line.split(" "));

    expect(error).toMatchObject({ code: "USAGE_INVALID" });
    expect(error.message).toContain(words);
  });
});

test("help says what is no command and knows subcommands", async () => {
  const unknown = await runCommand(own.stateDir, ["help", "nosuch"]);
  const known = await runCommand(own.stateDir, ["help", "daemon", "status"]);

  expect(unknown).toMatchObject({ exitCode: 2, stdout: "" });
  expect(unknown.stderr).toContain('There is no command "nosuch".');
  expect(known).toMatchObject({ exitCode: 0, stderr: "" });
  expect(known.stdout).toContain("Usage: waypoint daemon status");
});

test("exec says when the session's shell ended with the command", async () => {
  const finished = await runCommand(own.stateDir, ["exec", "web", "--", "exit 3"]);

  expect(finished.exitCode).toBe(3);
  expect(finished.stderr).toBe("The session's shell ended; a fresh one was started.\n");
});

test("exec --tty without a terminal says where its output is", async () => {
  const { stderr } = await runCommand(own.stateDir, ["exec", "web", "--tty", "--", "echo text"]);

  expect(stderr).toContain("on the session's terminal only");
});

describe("restore", () => {
  test("to files alone says that the processes are gone", async () => {
    await web.checkpoint({ name: "files", filesOnly: true });

    const { stdout } = await runCommand(own.stateDir, ["restore", "web", "files"]);

    expect(stdout).toContain("with a fresh shell; its processes were not captured");
  });

  test("gives up processes that cannot be captured only when told to, and warns", async () => {
    await web.exec(`python3 -c '${UNDUMPABLE}' > /tmp/ready 2>&1 &`);
    await eventually(
      "the program",
      async () => (await web.exec("cat /tmp/ready", { shell: "own" })).stdout,
      (said) => said === "ready\n",
    );
    const restore = ["restore", "web", "files"];

    const refused = await runCommand(own.stateDir, restore);
    const moved = await runCommand(own.stateDir, [...restore, "--lose-processes"]);

    expect(refused).toMatchObject({ stdout: "", exitCode: 21 });
    expect(refused.stderr).toContain("--lose-processes");
    expect(moved.exitCode).toBe(0);
    expect(moved.stdout).toContain(
      "Warning: its processes could not be captured; undo brings back files only.",
    );
  });

  test("--without-undo captures nothing and says so", async () => {
    const { stdout } = await runCommand(own.stateDir, [
      ...["restore", "web", "files", "--without-undo"],
    ]);

    expect(stdout).toContain("There is no undo.");
  });
});

test.each([
  ["new --name web", "That is an argument here: `waypoint new [name]`."],
  ["checkpoint --session web", "That is an argument here: `waypoint checkpoint <session>`."],
  [
    "exec --session web true",
    "That is an argument here: `waypoint exec <session>`. Put -- before the command.",
  ],
  ["exec web psql --command x", "Put -- before the command."],
  [
    "effects settle --session web k done",
    "Did you mean --version? Read `waypoint effects --help`.",
  ],
  ["exec --bogus web true", "Put -- before the command."],
  ["log --bogus web", "Read `waypoint log --help`."],
])("what is no option of a command leads on: %s", async (line, hint) => {
  const { stderr, exitCode } = await runCommand(own.stateDir, line.split(" "));

  expect(stderr).toContain(`\nHint:  ${hint}`);
  expect(exitCode).toBe(2);
});
