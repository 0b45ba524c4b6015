import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { SHELL_PACKAGES, TestBases } from "../support/bases.ts";
import { failureOf } from "../support/failing-command.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const INSTALL =
  "apt-get -o APT::Sandbox::User=root -q update && " +
  "DEBIAN_FRONTEND=noninteractive apt-get -o APT::Sandbox::User=root -qy " +
  "install --no-install-recommends zsh fish";
const INSTALL_TIMEOUT_MS = 240_000;

let own: TestWaypoint;
let zsh: Session;
let fish: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  const session = await own.waypoint.new({ name: "shells" });
  const { exitCode, stderr } = await session.exec(INSTALL, { timeoutMs: INSTALL_TIMEOUT_MS });
  expect({ exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({ exitCode: 0, stderr: "" });
  const installed = await session.checkpoint({ name: "installed" });
  [zsh, fish] = (await installed.fork(2)) as Session[] as [Session, Session];
  await become(zsh, "exec zsh -f");
  await become(fish, "exec fish");
}, INSTALL_TIMEOUT_MS + 30_000);

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Replaces the live shell, as a person would who likes another one better. */
async function become(session: Session, line: string): Promise<void> {
  await using terminal = await TestTerminal.attach(session);
  await terminal.type(`${line}\r`);
  await terminal.waitFor(/^(Welcome to fish|\S*[%#>] ?$)/);
}

async function outputOf(session: Session, command: string): Promise<string> {
  const { stdout } = await session.exec(command);
  return stdout;
}

/** The same in each shell's own words. */
const WORDS = {
  zsh: { set: "export KEPT=yes", program: "echo $ZSH_NAME", name: "zsh", end: "(exit 7)" },
  fish: {
    ...{ set: "set -gx KEPT yes", program: "status fish-path | string match -r 'fish$'" },
    ...{ name: "fish", end: "sh -c 'exit 7'" },
  },
};

describe.each(["zsh", "fish"] as const)("a session whose live shell is %s", (name) => {
  const session = () => (name === "zsh" ? zsh : fish);
  const words = WORDS[name];

  test("runs commands in that shell", async () => {
    expect(await outputOf(session(), words.program)).toBe(`${words.name}\n`);
  });

  test("keeps directory and variables", async () => {
    await session().exec(`cd /usr; ${words.set}`);

    expect(await outputOf(session(), "pwd; echo $KEPT; sh -c 'echo $KEPT'")).toBe(
      "/usr\nyes\nyes\n",
    );
  });

  test("has stdout and stderr apart, and exit codes", async () => {
    const { stdout, stderr, exitCode } = await session().exec(
      `echo out; echo err >&2; ${words.end}`,
    );

    expect({ stdout, stderr, exitCode }).toEqual({ stdout: "out\n", stderr: "err\n", exitCode: 7 });
    expect((await session().exec("true")).exitCode).toBe(0);
    expect((await session().exec("no-such-program-here")).exitCode).toBe(127);
  });

  test("passes words on as they are", async () => {
    const odd = ["a b", "it's", "back\\slash", "$HOME", "*", "\\"];

    const { stdout } = await session().exec(["printf", "%s\\n", ...odd.slice(0, 5)]);

    expect(stdout).toBe(`${odd.slice(0, 5).join("\n")}\n`);
  });

  test("ends a command that takes too long, and lives on", async () => {
    const { timedOut } = await session().exec("sleep 60", { timeoutMs: 300 });

    expect(timedOut).toBe(true);
    expect(await outputOf(session(), "echo $KEPT")).toBe("yes\n");
  });

  test("shows a person the output, and takes keys", async () => {
    await using terminal = await TestTerminal.attach(session());

    await session().exec("echo shown-$KEPT");
    await terminal.waitFor(/shown-yes$/);
    await terminal.type("echo typed-$KEPT\r");

    await terminal.waitFor(/^typed-yes$/);
  });

  test("comes back whole, and forks", async () => {
    await session().exec(`cd /tmp; ${words.set}; sleep 1000 &`);
    const checkpoint = await session().checkpoint();
    await session().exec(`cd /; ${words.set.replace("yes", "lost")}`);

    const [fork] = (await checkpoint.fork(1)) as [Session];
    await session().restore(checkpoint.id, { whileTyping: true });

    for (const each of [session(), fork]) {
      expect(await outputOf(each, "pwd; echo $KEPT")).toBe("/tmp\nyes\n");
      expect(await outputOf(each, "jobs")).toContain("sleep 1000");
    }
    await fork.remove({ force: true });
  });
});

/** Types a line, without its end, and puts the cursor before the last two characters. */
async function halfType(terminal: TestTerminal): Promise<void> {
  await terminal.type("echo half-typed");
  await terminal.waitFor(/[#>] echo half-typed\s*$/);
  await terminal.type("\u001b[D\u001b[D");
}

describe.each(["zsh", "fish"] as const)("a session started with --shell %s", (shell) => {
  let bases: TestBases;
  let session: Session;

  beforeAll(async () => {
    bases = new TestBases();
    const base = await bases.makeDebian("shells", SHELL_PACKAGES);
    session = await own.waypoint.new({ base, shell });
  }, 60_000);

  afterAll(async () => {
    await session?.remove({ force: true });
    bases?.[Symbol.dispose]();
  });

  test("has that shell, which keeps directory and variables, also in a fork", async () => {
    expect((await session.info()).shell).toMatch(new RegExp(`/bin/${shell}$`));
    await session.exec(`cd /usr; ${WORDS[shell].set}`);
    expect(await outputOf(session, WORDS[shell].program)).toBe(`${shell}\n`);

    const checkpoint = await session.checkpoint();
    const [fork] = (await checkpoint.fork(1)) as [Session];

    expect(await outputOf(fork, "pwd; echo $KEPT")).toBe("/usr\nyes\n");
    const { stdout } = await fork.exec(["printf", "%s|", "it's", "\\"]);
    expect(stdout).toBe("it's|\\|");
    await fork.remove({ force: true });
  });

  test("shows a person a command, and gives back the half-typed line and its cursor", async () => {
    await using terminal = await TestTerminal.attach(session);
    await halfType(terminal);

    await session.exec("echo from-exec");

    await terminal.waitFor(/[#>] echo from-exec\s*$/);
    await terminal.waitFor(/^from-exec$/);
    await terminal.waitFor(/[#>] echo half-typed\s*$/);
    await terminal.type("X\r");
    await terminal.waitFor(/^half-typXed$/);
    expect(terminal.screen().join("\n")).not.toContain("/run/waypoint");
  });

  test("gives it back after a command that was interrupted, and after a restore", async () => {
    await using terminal = await TestTerminal.attach(session);
    await terminal.type("clear\r");
    await halfType(terminal);
    const checkpoint = await session.checkpoint();

    const { timedOut, exitCode } = await session.exec("sleep 60", { timeoutMs: 300 });
    expect({ timedOut, exitCode }).toEqual({ timedOut: true, exitCode: 124 });
    await terminal.waitFor(/[#>] echo half-typed\s*$/);
    await session.restore(checkpoint.id, { whileTyping: true });
    await session.exec("echo restored");
    await terminal.waitFor(/^restored$/);
    await terminal.type("Y\r");

    await terminal.waitFor(/^half-typYed$/);
  });

  test("tells what a person types, with exit code and output", async () => {
    await using terminal = await TestTerminal.attach(session);
    await terminal.type("echo ty''ped; false\r");
    await terminal.waitFor(/^typed$/);
    await session.exec("true");

    const { commands } = (await (await session.checkpoint()).show()).story;

    const typed = (commands ?? []).filter(({ command }) => command === "echo ty''ped; false");
    expect(typed).toMatchObject([{ by: "terminal", exitCode: 1 }]);
    // fish does not wait until init has taken what the terminal showed.
    if (shell === "zsh") expect(typed[0]?.output).toBe("typed\n");
  });

  test("keeps what exec runs out of the history", async () => {
    await session.exec("echo of-exec");
    await session.exec("echo of-exec");

    const { stdout } = await session.exec(shell === "zsh" ? "fc -l 1" : "history");

    expect(stdout).toContain("half-typ");
    expect(stdout).not.toMatch(/of-exec|waypoint/);
  });
});

test("a shell that took the first one's place gives half-typed lines back, too", async () => {
  for (const session of [zsh, fish]) {
    await session.exec("true");
    await using terminal = await TestTerminal.attach(session);
    await halfType(terminal);

    await session.exec("echo once-more");
    await terminal.waitFor(/^once-more$/);
    await terminal.type("Z\r");

    await terminal.waitFor(/^half-typZed$/);
  }
});

describe("new --shell", () => {
  test.each([
    ["sh", "/bin/sh"],
    ["dash", "/bin/dash"],
    ["/bin/bash", "/bin/bash"],
  ])("%s starts %s", async (shell, shellPath) => {
    const session = await own.waypoint.new({ shell });

    const { stdout } = await session.exec("echo $0 $SHELL; cd /etc");
    expect(stdout).toBe(`${shellPath} ${shellPath}\n`);
    expect((await session.info()).shell).toBe(shellPath);
    await session.checkpoint();
    const [fork] = (await own.waypoint.fork(`${session.name}@`)) as [Session];
    expect(await outputOf(fork, "pwd")).toBe("/etc\n");
    await Promise.all([session, fork].map((each) => each.remove({ force: true })));
  });

  test.each(["nosuchshell", "/etc", "/etc/passwd", "../../bin/sh"])(
    "%s is refused",
    async (shell) => {
      const { error, exitCode } = await failureOf(own, ["new", "x", "--shell", shell]);

      expect({ code: error.code, exitCode }).toEqual({ code: "BASE_INVALID", exitCode: 2 });
      expect(error.message).toContain(shell);
    },
  );
});
