import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keepBusy } from "../support/keep-busy.ts";
import { Driver, until } from "../support/terminal/driver.ts";

const driver = new Driver();
beforeAll(() => driver.open());
afterAll(() => driver.close());

const residentKib = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${driver.sandbox.pid}/status`, "utf8"))?.[1]);

describe("commands in the live shell", () => {
  test("what a command does to the shell persists", async () => {
    await driver.run(
      "cd /etc; export A=1; declare B=2; f() { echo fun; }; alias al='echo alias'; sleep 77 &",
    );

    const { stdout } = await driver.run(
      // Waited for, or the shell tells of its end while the next command runs.
      'pwd; echo $A $B; f; al; jobs | grep -c "sleep 77"; kill %1; wait',
    );

    expect(stdout).toBe("/etc\n1 2\nfun\nalias\n1\n");
  });

  test("stdout and stderr are apart and stdin is empty", async () => {
    const outcome = await driver.run("cat; echo out; echo err >&2");

    expect(outcome).toEqual({ stdout: "out\n", stderr: "err\n", exitCode: 0, reason: "exited" });
  });

  test.each([
    ["false", 1],
    ["return 7", 7],
    ["sh -c 'kill -9 $$'", 137],
    ["sh -c 'kill -15 $$'", 143],
    ["if ; then", 2],
    ["no-such-program", 127],
    ["(exit 42)", 42],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is shell
    ["echo ${MISSING:?no}; true", 1],
    ["exec >/tmp/elsewhere; echo hidden", 0],
  ])("%s ends with %i", async (script, exitCode) => {
    expect((await driver.run(script)).exitCode).toBe(exitCode);
  });

  test("the next command sees the exit status of the one before", async () => {
    await driver.run("(exit 9)");

    expect((await driver.run("echo $?")).stdout).toBe("9\n");
  });

  test("100 MB of binary output arrive whole and init stays small", async () => {
    const script = "head -c 100000000 /dev/urandom | tee >(sha256sum >/tmp/sum) ";
    const id = await driver.start(script, { show: false });
    const hash = createHash("sha256");
    let sizeBytes = 0;
    for await (const { bytes } of driver.link.readCommand(id)) {
      hash.update(bytes);
      sizeBytes += bytes.length;
    }

    expect(sizeBytes).toBe(100_000_000);
    const { stdout } = await driver.run("sleep 0.3; cat /tmp/sum");
    expect(stdout).toContain(hash.digest("hex"));
    expect(residentKib()).toBeLessThan(2048);
  });

  test.each(["sleep 30; echo no", "while :; do :; done", "sleep 30 | cat", "cat /dev/zero"])(
    "an interrupt ends `%s` and leaves the shell",
    async (script) => {
      await driver.run("kept=yes");
      const id = await driver.start(script, { show: false });
      const outcome = script.includes("zero") ? drain(id) : driver.outcomeOf(id);
      await until(
        () => driver.stageOf(id),
        (stage) => stage === "running",
      );
      await delay(100);

      await driver.link.signal(id, 2);

      expect((await outcome).exitCode).toBe(130);
      expect((await driver.run("echo $kept")).stdout).toBe("yes\n");
    },
  );

  test("an interrupt at any moment of the start ends the command, not the shell", async () => {
    for (let delayMs = 0; delayMs < 8; delayMs += 1) {
      const id = await driver.start("sleep 30", { show: false });
      const outcome = driver.outcomeOf(id);
      await delay(delayMs / 2);
      await driver.link.signal(id, 2);
      expect((await outcome).exitCode).toBe(130);
    }

    expect((await driver.run("echo alive")).stdout).toBe("alive\n");
  });

  test("a background process that keeps the output open does not hold the command up", async () => {
    const outcome = await driver.run("(until [ -e /tmp/now ]; do sleep 0.05; done) & echo now");

    // It is only now told to end: a command that it held up would never have.
    expect(outcome.stdout).toBe("now\n");
    await driver.run("touch /tmp/now; wait; rm /tmp/now");
  });

  test("a half-typed line survives and watchers see the command", async () => {
    const { endOffset } = await driver.stateOf(driver.shell);
    await driver.link.write(driver.shell, Buffer.from("echo half"));
    await delay(100);

    await driver.run("echo from-exec");
    await driver.link.write(driver.shell, Buffer.from("-typed\r"));

    const seen = await driver.shown(driver.shell, endOffset, "\rhalf-typed");
    expect(seen).toContain("echo from-exec");
    expect(seen).toContain("from-exec\r\n");
  });

  test.each([
    ["finished", 0, 400, ""],
    ["finished, on a busy machine", 6, 300, ""],
    ["interrupted", 0, 50, "; kill -INT $$; sleep 9"],
    ["interrupted, on a busy machine", 6, 50, "; kill -INT $$; sleep 9"],
  ])("watchers see a command, its output, the next prompt: %s", async (_, load, rounds, end) => {
    const busy = keepBusy(load);
    const { endOffset } = await driver.stateOf(driver.shell);
    const numbers = Array.from({ length: rounds }, (_, index) => index);

    for (const number of numbers) {
      await driver.run(`echo out-${number}; echo err-${number} >&2${end}`);
    }

    busy.end();
    const seen = await driver.shown(driver.shell, endOffset, `err-${rounds - 1}\r\n`);
    const erasesItsLine = "\u001b[J";
    const late = numbers.filter((number) => {
      const outputs = [`out-${number}\r\n`, `err-${number}\r\n`];
      const isRight = (output: string) => seen.includes(`${erasesItsLine}${output}`);
      return !isRight(outputs.join("")) && !isRight(outputs.reverse().join(""));
    });
    expect(late).toEqual([]);
  });

  test("what a command printed last is seen before the prompt though nobody reads it", async () => {
    const { endOffset } = await driver.stateOf(driver.shell);
    const script = "head -c 66000 /dev/zero | tr '\\0' a; echo; echo last-1; PS1='aft''er> '";

    const id = await driver.start(script);
    const seen = await driver.shown(driver.shell, endOffset, "after> ");

    expect(/a{1000}\r\nlast-1\r\n[^a]*after> /.test(seen)).toBe(true);
    const { stdout } = await driver.outcomeOf(id);
    expect(stdout === `${"a".repeat(66_000)}\nlast-1\n`).toBe(true);
  });

  test("a command waits while a person's program or unfinished command is in front", async () => {
    await driver.link.write(driver.shell, Buffer.from("sleep 1\r"));
    await until(
      () => driver.stateOf(driver.shell),
      (state) => state.foreground !== state.pid,
    );
    const id = await driver.start("echo first");
    const second = await driver.start("echo second");

    expect(await driver.stageOf(id)).toBe("queued");
    expect((await driver.outcomeOf(id)).stdout).toBe("first\n");
    expect((await driver.outcomeOf(second)).stdout).toBe("second\n");

    await driver.link.write(driver.shell, Buffer.from("for i in 1; do\r"));
    await delay(100);
    const third = await driver.start("echo third");
    await delay(300);
    expect(await driver.stageOf(third)).toBe("queued");
    await driver.link.write(driver.shell, Buffer.from("echo loop; done\r"));
    expect((await driver.outcomeOf(third)).stdout).toBe("third\n");
  });

  test("a queued command can be discarded", async () => {
    const running = await driver.start("sleep 0.5");
    const id = await driver.start("touch /tmp/never");

    await driver.link.discard(id);

    await driver.outcomeOf(running);
    expect((await driver.run("ls /tmp/never")).exitCode).toBe(2);
  });

  test("a command on the terminal itself has a terminal", async () => {
    const { endOffset } = await driver.stateOf(driver.shell);

    const outcome = await driver.run("test -t 0 && test -t 1 && stty size", { tty: true });

    expect(outcome).toMatchObject({ exitCode: 0, stdout: "" });
    expect(await driver.shown(driver.shell, endOffset, "24 80")).toContain("24 80");
  });

  test("commands stay out of the shell's history", async () => {
    await driver.run("echo not-in-history; :");

    const { stdout } = await driver.run(
      "history | grep -c 'waypoint/t\\|not-in-hist'; echo [$HISTCONTROL]",
    );

    expect(stdout.split("\n")[0]).toBe("0");
  });

  test("a script of 900 KB runs", async () => {
    const script = `x='${"y".repeat(900_000)}'\necho \${#x}`;

    expect((await driver.run(script)).stdout).toBe("900000\n");
  });

  test("vi mode and a changed prompt do not matter", async () => {
    await driver.run("set -o vi; PS1='two\\nlines> '; PROMPT_COMMAND=");
    await driver.link.write(driver.shell, Buffer.from("abc\x1b"));
    await delay(600);

    expect((await driver.run("echo vi; set -o emacs")).stdout).toBe("vi\n");
    await driver.link.write(driver.shell, Buffer.from("\x15"));
  });

  test("`exit 3` ends the shell, which can be started again on its terminal", async () => {
    expect(await driver.run("exit 3")).toMatchObject({ exitCode: 3, reason: "shell-ended" });
    expect((await driver.stateOf(driver.shell)).isAlive).toBe(false);

    await driver.link.respawnTerminal(driver.shell);

    expect((await driver.run("echo again")).stdout).toBe("again\n");
  });

  test("`set -e` ends the shell with the failing status", async () => {
    expect(await driver.run("set -e; (exit 5); echo no")).toMatchObject({ exitCode: 5 });
    await driver.link.respawnTerminal(driver.shell);
    expect((await driver.run("echo $-")).stdout).not.toContain("e");
  });
});

describe("commands in a POSIX shell", () => {
  test("a shell without key bindings runs commands, also after an interrupt", async () => {
    const dash = await driver.openTerminal(["dash", "-i"]);
    const posix = (script: string) => driver.run(script, { shell: "posix" }, dash);

    expect(await posix("cd /usr; V=1; echo out; echo err >&2; (exit 4)")).toMatchObject({
      stdout: "out\n",
      stderr: expect.stringContaining("err\n"),
      exitCode: 4,
    });
    expect((await posix("pwd; echo $V")).stdout).toBe("/usr\n1\n");
    const id = await driver.link.runInShell(dash, "sleep 30; sleep 30", { shell: "posix" });
    await until(
      () => driver.stageOf(id),
      (stage) => stage === "running",
    );
    await delay(100);
    await driver.link.signal(id, 2);
    expect((await driver.outcomeOf(id)).exitCode).toBe(130);
    expect((await posix("echo alive")).stdout).toBe("alive\n");
    await driver.link.closeTerminal(dash);
  });
});

/** Reads a command to its end and forgets its output. */
async function drain(id: number): Promise<{ exitCode: number }> {
  const reader = driver.link.readCommand(id);
  for await (const _ of reader);
  return reader.result;
}
