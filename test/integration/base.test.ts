import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { TestBases } from "../support/bases.ts";
import { failureOf } from "../support/failing-command.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { readWholeState } from "../support/whole-state.ts";

const bases = new TestBases();
let own: TestWaypoint;
let busybox: Session;
let debian: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  await Promise.all([bases.makeBusybox("busybox"), bases.makeDebian("debian")]);
  busybox = await own.waypoint.new({ name: "busybox", base: bases.path("busybox") });
  debian = await own.waypoint.new({ name: "debian", base: bases.path("debian") });
}, 120_000);

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
  bases[Symbol.dispose]();
});

async function outputOf(session: Session, command: string): Promise<string> {
  const { stdout } = await session.exec(command);
  return stdout;
}

describe.each(["busybox", "debian"])("a session on a base of %s", (name) => {
  const session = () => (name === "busybox" ? busybox : debian);

  test("keeps the directory and the variables of its shell", async () => {
    await session().exec("cd /bin; export KEPT=yes");

    expect(await outputOf(session(), "pwd; echo $KEPT")).toBe("/bin\nyes\n");
  });

  test("has stdout and stderr apart, and exit codes", async () => {
    const { stdout, stderr, exitCode } = await session().exec("echo out; echo err >&2; (exit 7)");

    expect({ stdout, stderr, exitCode }).toEqual({ stdout: "out\n", stderr: "err\n", exitCode: 7 });
  });

  test("gives a command that is too slow its end", async () => {
    const { timedOut, exitCode } = await session().exec("sleep 60", { timeoutMs: 300 });

    expect({ timedOut, exitCode }).toEqual({ timedOut: true, exitCode: 124 });
    expect(await outputOf(session(), "echo $KEPT")).toBe("yes\n");
  });

  test("has what every program expects", async () => {
    const listed = await outputOf(session(), "ls -d /tmp /root /proc/1 /sys/class /dev/tty /run");

    expect(listed.split("\n").filter(Boolean)).toHaveLength(6);
    expect(await outputOf(session(), "echo $HOME; echo x >/tmp/x && cat /tmp/x")).toBe(
      "/root\nx\n",
    );
    expect((await session().exec("(: >/dev/tty)")).exitCode).toBe(0);
  });

  test("can be attached to", async () => {
    await using terminal = await TestTerminal.attach(session());

    await terminal.type("echo so$((40 + 2))\r");

    await terminal.waitFor(/^so42$/);
  });

  test("comes back whole: shell, jobs and files", async () => {
    await session().exec("cd /tmp; KEPT=captured; sleep 1000 & echo before >/tmp/file");
    const checkpoint = await session().checkpoint();
    await session().exec("cd /; KEPT=lost; kill %1; echo after >/tmp/file");

    const forks = await checkpoint.fork(2);
    await session().restore(checkpoint.id);

    for (const each of [session(), ...forks]) {
      expect(await outputOf(each, "pwd; echo $KEPT; cat file")).toBe("/tmp\ncaptured\nbefore\n");
      expect(await outputOf(each, "jobs")).toContain("sleep 1000");
    }
    await Promise.all(forks.map((fork) => fork.remove({ force: true })));
  });
});

test("the shell of busybox is in nobody's way: the base itself is unchanged", () => {
  expect(existsSync(bases.path("busybox", "run"))).toBe(false);
  expect(existsSync(bases.path("busybox", "etc"))).toBe(false);
});

describe("a base that cannot be started", () => {
  const shellOf = (name: string) => bases.path(name, "bin", "sh");

  beforeAll(() => {
    const busyboxProgram = readFileSync(bases.path("busybox", "bin", "busybox"));
    const foreign = Buffer.from(busyboxProgram);
    foreign.writeUInt16LE(243, 18); // e_machine of RISC-V
    cpSync(bases.path("debian"), bases.path("no-library"), {
      recursive: true,
      verbatimSymlinks: true,
    });
    rmSync(bases.path("no-library", "bin", "dash"));
    removeFiles(bases.path("no-library"), /^libtinfo\.so/);
    for (const name of ["no-shell", "foreign", "no-loader", "script", "cut", "text", "loop"]) {
      mkdirSync(bases.path(name, "bin"), { recursive: true });
    }
    writeFileSync(shellOf("foreign"), foreign, { mode: 0o755 });
    cpSync(bases.path("debian", "bin", "bash"), bases.path("no-loader", "bin", "bash"));
    writeFileSync(shellOf("script"), "#!/opt/shell\n", { mode: 0o755 });
    writeFileSync(shellOf("cut"), foreign.subarray(0, 20), { mode: 0o755 });
    writeFileSync(shellOf("text"), "", { mode: 0o755 });
    symlinkSync("sh", shellOf("loop"));
    chmodSync(bases.path("no-loader", "bin", "bash"), 0o755);
  });

  test.each([
    ["no-shell", /is no root filesystem/],
    ["loop", /is no root filesystem/],
    ["foreign", /\/bin\/sh is a program for RISC-V, and this machine is \w+/],
    ["no-loader", /\/bin\/bash needs the loader \/\S+, which is missing/],
    ["no-library", /\/bin\/bash needs the library libtinfo\.so\.6, which is missing/],
    ["script", /\/bin\/sh is a script for \/opt\/shell, which is missing/],
    ["cut", /\/bin\/sh is cut short/],
    ["text", /\/bin\/sh is no program/],
  ])("%s: says so, and leaves nothing", async (name, sentence) => {
    const before = await readWholeState(own);

    const failure = await failureOf(own, ["new", "x", "--base", bases.path(name)]);

    expect(failure.error.code).toBe("BASE_INVALID");
    expect(failure.error.message).toMatch(sentence);
    expect(failure.error.hint).toMatch(/\.$/);
    expect(await readWholeState(own)).toEqual(before);
  });

  test("a shell that cannot run gives way to one that can", async () => {
    const base = bases.path("second-choice");
    cpSync(bases.path("busybox"), base, { recursive: true, verbatimSymlinks: true });
    writeFileSync(path.join(base, "bin", "bash"), "", { mode: 0o755 });

    const session = await own.waypoint.new({ name: "second-choice", base });

    expect(await outputOf(session, "echo $SHELL")).toBe("/bin/sh\n");
    await session.remove({ force: true });
    rmSync(base, { recursive: true });
  });
});

function removeFiles(directory: string, name: RegExp): void {
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true });
  for (const entry of entries) {
    if (name.test(entry.name)) rmSync(path.join(entry.parentPath, entry.name));
  }
}
