import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** More than a program may get as one argument (128 KiB), less than a script may have (1 MiB). */
const LONG_LINE_CHARACTERS = 500_000;

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web" });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

async function stdoutOf(line: string): Promise<string> {
  const { stdout, stderr, exitCode } = await session.exec(line);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return stdout;
}

describe("what a command does to the live shell is there for the next one", () => {
  test("directory, variables, functions, aliases and options", async () => {
    await stdoutOf("cd /usr/share; export COLOR=blue; words=('one two' three)");
    await stdoutOf("greet() { echo hello $1 in $PWD; }; alias double='echo twice'");
    await stdoutOf("shopt -s nullglob; umask 027; set -- first second");

    expect(await stdoutOf("pwd; printenv COLOR; echo $words")).toBe("/usr/share\nblue\none two\n");
    expect(await stdoutOf("greet you; double")).toBe("hello you in /usr/share\ntwice\n");
    expect(await stdoutOf("echo *.nosuch.; umask; echo $2; cd ~")).toBe("\n0027\nsecond\n");
  });

  test("an activated virtual environment", async () => {
    await stdoutOf("python3 -m venv --without-pip ~/venv && source ~/venv/bin/activate");

    const where = await stdoutOf("command -v python; python -c 'import sys; print(sys.prefix)'");

    expect(where).toBe("/root/venv/bin/python\n/root/venv\n");
    await stdoutOf("deactivate");
    expect(await stdoutOf("printenv VIRTUAL_ENV || echo none")).toBe("none\n");
  });

  test("background jobs, which the shell can still wait for and end", async () => {
    await session.exec("sleep 100000 & worker=$!");

    expect(await stdoutOf("jobs -p | grep -cx $worker")).toBe("1\n");
    expect((await session.exec("kill %1; wait %1")).exitCode).toBe(143);
  });

  test("the exit code of the last command, as $?", async () => {
    await session.exec("(exit 42)");

    expect(await stdoutOf("echo $?")).toBe("42\n");
  });
});

describe("the exit code is the command's", () => {
  test.each([
    ["true", 0],
    ["(exit 3)", 3],
    ["(exit 255)", 255],
    ["false | true", 0],
    ["/etc/passwd", 126],
    ["no-such-command", 127],
    ["sh -c 'kill -TERM $$'", 143],
    ["sh -c 'kill -KILL $$'", 137],
    ["sh -c 'kill -SEGV $$'", 139],
    ["sh -c 'kill -INT $$'", 130],
    ["sh -c 'kill -PIPE $$'", 141],
  ])("%s: %i", async (line, exitCode) => {
    const [live, ownShell] = await Promise.all([
      session.exec(line),
      session.exec(line, { shell: "own" }),
    ]);

    expect([live.exitCode, ownShell.exitCode]).toEqual([exitCode, exitCode]);
    expect(live.timedOut).toBe(false);
  });

  test.each(["exit 3", "set -e; (exit 3)", "exec sh -c 'exit 3'"])(
    "a shell ended by `%s` ends with it, and a fresh one takes the next command",
    async (line) => {
      await stdoutOf("shell_before=$$; marker=set");

      expect((await session.exec(line)).exitCode).toBe(3);

      expect(await stdoutOf("[ -v marker ] || echo unset; pwd")).toBe("unset\n/root\n");
    },
  );

  test.each(["echo 'open", "if true; then", "echo )", "$((", "cat <<END"])(
    "a syntax error, `%s`, fails and leaves the shell as it was",
    async (line) => {
      await stdoutOf("marker=kept");

      const { exitCode, stderr } = await session.exec(line, { timeoutMs: 20_000 });

      // Bash takes a here-document without its end, with a warning.
      expect(exitCode === 0).toBe(line.startsWith("cat"));
      expect(stderr).not.toBe("");
      expect(await stdoutOf("echo $marker")).toBe("kept\n");
    },
  );
});

describe("input", () => {
  test("a command in the live shell finds its standard input empty", async () => {
    expect(await stdoutOf("cat; wc -c")).toBe("0\n");
    expect((await session.exec("read -r line")).exitCode).toBe(1);
  });

  test("a command with its own shell runs as another user, in their home, with variables", async () => {
    const env = { MARK: "one two", PATH: "/usr/bin:/bin" };
    const look = 'id -un; pwd; echo "$MARK"; echo "$PATH"';
    const options = { shell: "own", user: "nobody", env } as const;
    const other = await session.exec(look, options);
    const same = await session.exec("id -un; echo $MARK", { shell: "own", env });
    const cli = await runCommand(own.stateDir, [
      "exec",
      "web",
      "-u",
      "nobody",
      "-e",
      "A=b",
      "id -un; echo $A",
    ]);
    const live = session.exec("true", { user: "nobody" });

    expect(other.stdout).toBe("nobody\n/\none two\n/usr/bin:/bin\n");
    expect(same.stdout).toBe("root\none two\n");
    expect(cli).toMatchObject({ exitCode: 0, stdout: "nobody\nb\n" });
    await expect(live).rejects.toMatchObject({
      code: "USAGE_INVALID",
      hint: expect.stringContaining("--user or --env"),
    });
  });

  test("a command with its own shell reads what it is given, to the last byte", async () => {
    const input = Buffer.alloc(3_000_000, "0123456789abcdef\n");

    const { stdout } = await session.exec("wc -c; echo end", { shell: "own", input });

    expect(stdout).toBe("3000000\nend\n");
  });

  test("a command may end without reading its input", async () => {
    const input = Buffer.alloc(3_000_000);
    const codes = Array.from({ length: 20 }, (_, index) => index);

    const results = await Promise.all(
      codes.map((code) => session.exec(`exit ${code}`, { shell: "own", input })),
    );

    expect(results.map(({ exitCode }) => exitCode)).toEqual(codes);
  });

  test("a line of 500 KB, which no program could get as an argument", async () => {
    const line = `printf %s ${"x".repeat(LONG_LINE_CHARACTERS)} | wc -c`;

    const refused = await session.exec(line, { shell: "own" }).catch((error: unknown) => error);

    expect(await stdoutOf(line)).toBe(`${LONG_LINE_CHARACTERS}\n`);
    expect(refused).toMatchObject({ code: "USAGE_INVALID" });
  });

  test("words with every kind of character, in names, variables and output", async () => {
    const words = [
      "grüße",
      "日本語",
      "🦊🏳️‍🌈",
      "a'b\"c",
      "$HOME",
      "`id`",
      "new\nline",
      "\\n",
      "*",
      "",
    ];

    const { stdout } = await session.exec(["printf", "<%s>", ...words]);
    await stdoutOf("mkdir -p ~/grüße; cd ~/grüße; touch 日本語-🦊; export FUCHS=🦊");

    expect(stdout).toBe(words.map((word) => `<${word}>`).join(""));
    expect(await stdoutOf("ls; printenv FUCHS; cd ~")).toBe("日本語-🦊\n🦊\n");
  });
});

describe("several commands at once", () => {
  test("queue in the live shell, each with its own output and exit code", async () => {
    await stdoutOf("count=0");
    const numbers = Array.from({ length: 12 }, (_, index) => index);

    const results = await Promise.all(
      numbers.map((number) =>
        session.exec(`count=$((count + 1)); echo out-${number}; (exit ${number})`),
      ),
    );

    expect(results.map(({ stdout }) => stdout)).toEqual(numbers.map((n) => `out-${n}\n`));
    expect(results.map(({ exitCode }) => exitCode)).toEqual(numbers);
    expect(await stdoutOf("echo $count")).toBe("12\n");
  });

  test("run side by side in their own shells, also while the live shell is busy", async () => {
    await stdoutOf("mkfifo ~/gate ~/left ~/right");
    const busy = session.exec("read -r word < ~/gate; echo $word");

    // Each waits for the other, so that both end only if both run.
    const [left, right] = await Promise.all([
      session.exec("echo from-left > ~/left; cat ~/right", { shell: "own" }),
      session.exec("cat ~/left; echo from-right > ~/right", { shell: "own" }),
    ]);
    await session.exec("echo opened > ~/gate", { shell: "own" });

    expect([left.stdout, right.stdout]).toEqual(["from-right\n", "from-left\n"]);
    expect((await busy).stdout).toBe("opened\n");
  });
});

describe("a process that keeps the output open", () => {
  test.each(["live", "own"] as const)("does not hold up exec in the %s shell", async (shell) => {
    const { stdout } = await session.exec("(sleep 100000; echo late) & echo now", { shell });

    expect(stdout).toBe("now\n");
    await session.exec("pkill -f '^sleep 100000$'", { shell: "own" });
  });

  test("does not write into the output of the next command", async () => {
    await session.exec("mkfifo ~/go ~/said; (read -r _ < ~/go; echo stray; echo . > ~/said) &");

    const next = await session.exec("echo . > ~/go; read -r _ < ~/said; echo mine");

    expect(next.stdout).toBe("mine\n");
  });
});
