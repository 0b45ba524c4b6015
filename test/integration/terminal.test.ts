import { createHash } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ProgramSpec } from "../../src/terminal/index.ts";
import {
  bashProgram,
  openSandbox,
  rootProgram,
  type Sandbox,
} from "../../src/terminal/testing/sandbox.ts";

let sandbox: Sandbox;
let shell: number;

beforeAll(async () => {
  sandbox = await openSandbox();
  shell = await sandbox.link.openTerminal(bashProgram());
});

afterAll(async () => {
  await sandbox?.[Symbol.asyncDispose]();
});

interface Outcome {
  stdout: string;
  stderr: string;
  exitCode: number;
  reason: string;
}

async function outcomeOf(commandId: number): Promise<Outcome> {
  const reader = sandbox.link.readCommand(commandId);
  const texts = { stdout: "", stderr: "" };
  for await (const { stream, bytes } of reader) texts[stream] += bytes.toString();
  const { exitCode, reason } = await reader.result;
  return { ...texts, exitCode, reason };
}

async function run(
  script: string,
  options: { tty?: boolean; shell?: "bash" | "posix" } = {},
  terminal = shell,
): Promise<Outcome> {
  return outcomeOf(await sandbox.link.runInShell(terminal, script, { shell: "bash", ...options }));
}

async function spawn(argv: string[], change: Partial<ProgramSpec> = {}): Promise<Outcome> {
  const id = await sandbox.link.spawn({ ...rootProgram(argv), ...change });
  await sandbox.link.closeInput(id);
  return outcomeOf(id);
}

async function stateOf(terminalId: number) {
  const { terminals } = await sandbox.link.list();
  const state = terminals.find(({ id }) => id === terminalId);
  if (state === undefined) throw new Error(`no terminal ${terminalId}`);
  return state;
}

async function until<T>(read: () => Promise<T>, accept: (value: T) => boolean): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const value = await read();
    if (accept(value)) return value;
    if (tries > 500) throw new Error(`in vain; last: ${JSON.stringify(value, printable)}`);
    await delay(20);
  }
}

const printable = (_key: string, value: unknown) =>
  typeof value === "bigint" ? Number(value) : value;

const stageOf = async (commandId: number) =>
  (await sandbox.link.list()).commands.find(({ id }) => id === commandId)?.stage;

/** What the terminal showed from `offset` until it shows `text`. */
async function shown(terminal: number, offset: bigint, text: string): Promise<string> {
  const reader = sandbox.link.readTerminal(terminal, offset);
  let seen = "";
  for await (const { bytes } of reader) {
    seen += bytes.toString();
    if (seen.includes(text)) break;
  }
  reader.close();
  return seen;
}

const residentKib = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${sandbox.pid}/status`, "utf8"))?.[1]);

describe("commands in the live shell", () => {
  test("what a command does to the shell persists", async () => {
    await run(
      "cd /etc; export A=1; declare B=2; f() { echo fun; }; alias al='echo alias'; sleep 77 &",
    );

    const { stdout } = await run('pwd; echo $A $B; f; al; jobs | grep -c "sleep 77"; kill %1');

    expect(stdout).toBe("/etc\n1 2\nfun\nalias\n1\n");
  });

  test("stdout and stderr are apart and stdin is empty", async () => {
    const outcome = await run("cat; echo out; echo err >&2");

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
    expect((await run(script)).exitCode).toBe(exitCode);
  });

  test("the next command sees the exit status of the one before", async () => {
    await run("(exit 9)");

    expect((await run("echo $?")).stdout).toBe("9\n");
  });

  test("100 MB of binary output arrive whole and init stays small", async () => {
    const script = "head -c 100000000 /dev/urandom | tee >(sha256sum >/tmp/sum) ";
    const id = await sandbox.link.runInShell(shell, script, { shell: "bash", show: false });
    const hash = createHash("sha256");
    let sizeBytes = 0;
    for await (const { bytes } of sandbox.link.readCommand(id)) {
      hash.update(bytes);
      sizeBytes += bytes.length;
    }

    expect(sizeBytes).toBe(100_000_000);
    const { stdout } = await run("sleep 0.3; cat /tmp/sum");
    expect(stdout).toContain(hash.digest("hex"));
    expect(residentKib()).toBeLessThan(2048);
  });

  test.each(["sleep 30; echo no", "while :; do :; done", "sleep 30 | cat", "cat /dev/zero"])(
    "an interrupt ends `%s` and leaves the shell",
    async (script) => {
      await run("kept=yes");
      const id = await sandbox.link.runInShell(shell, script, { shell: "bash", show: false });
      const outcome = script.includes("zero") ? drain(id) : outcomeOf(id);
      await until(
        () => stageOf(id),
        (stage) => stage === "running",
      );
      await delay(100);

      await sandbox.link.signal(id, 2);

      expect((await outcome).exitCode).toBe(130);
      expect((await run("echo $kept")).stdout).toBe("yes\n");
    },
  );

  test("a background process that keeps the output open does not hold the command up", async () => {
    const startedAtMs = performance.now();

    const outcome = await run("(sleep 3; echo late) & echo now");

    expect(outcome.stdout).toBe("now\n");
    expect(performance.now() - startedAtMs).toBeLessThan(2500);
  });

  test("a half-typed line survives and watchers see the command", async () => {
    const { endOffset } = await stateOf(shell);
    await sandbox.link.write(shell, Buffer.from("echo half"));
    await delay(100);

    await run("echo from-exec");
    await sandbox.link.write(shell, Buffer.from("-typed\r"));

    const seen = await shown(shell, endOffset, "\rhalf-typed");
    expect(seen).toContain("echo from-exec");
    expect(seen).toContain("from-exec\r\n");
  });

  test("a command waits while a person's program or unfinished command is in front", async () => {
    await sandbox.link.write(shell, Buffer.from("sleep 1\r"));
    await until(
      () => stateOf(shell),
      (state) => state.foreground !== state.pid,
    );
    const id = await sandbox.link.runInShell(shell, "echo first", { shell: "bash" });
    const second = await sandbox.link.runInShell(shell, "echo second", { shell: "bash" });

    expect(await stageOf(id)).toBe("queued");
    expect((await outcomeOf(id)).stdout).toBe("first\n");
    expect((await outcomeOf(second)).stdout).toBe("second\n");

    await sandbox.link.write(shell, Buffer.from("for i in 1; do\r"));
    await delay(100);
    const third = await sandbox.link.runInShell(shell, "echo third", { shell: "bash" });
    await delay(300);
    expect(await stageOf(third)).toBe("queued");
    await sandbox.link.write(shell, Buffer.from("echo loop; done\r"));
    expect((await outcomeOf(third)).stdout).toBe("third\n");
  });

  test("a queued command can be discarded", async () => {
    const running = await sandbox.link.runInShell(shell, "sleep 0.5", { shell: "bash" });
    const id = await sandbox.link.runInShell(shell, "touch /tmp/never", { shell: "bash" });

    await sandbox.link.discard(id);

    await outcomeOf(running);
    expect((await run("ls /tmp/never")).exitCode).toBe(2);
  });

  test("a command on the terminal itself has a terminal", async () => {
    const { endOffset } = await stateOf(shell);

    const outcome = await run("test -t 0 && test -t 1 && stty size", { tty: true });

    expect(outcome).toMatchObject({ exitCode: 0, stdout: "" });
    expect(await shown(shell, endOffset, "24 80")).toContain("24 80");
  });

  test("commands stay out of the shell's history", async () => {
    await run("echo not-in-history; :");

    const { stdout } = await run(
      "history | grep -c 'waypoint/t\\|not-in-hist'; echo [$HISTCONTROL]",
    );

    expect(stdout.split("\n")[0]).toBe("0");
  });

  test("a script of 900 KB runs", async () => {
    const script = `x='${"y".repeat(900_000)}'\necho \${#x}`;

    expect((await run(script)).stdout).toBe("900000\n");
  });

  test("vi mode and a changed prompt do not matter", async () => {
    await run("set -o vi; PS1='two\\nlines> '; PROMPT_COMMAND=");
    await sandbox.link.write(shell, Buffer.from("abc\x1b"));
    await delay(600);

    expect((await run("echo vi; set -o emacs")).stdout).toBe("vi\n");
    await sandbox.link.write(shell, Buffer.from("\x15"));
  });

  test("`exit 3` ends the shell, which can be started again on its terminal", async () => {
    expect(await run("exit 3")).toMatchObject({ exitCode: 3, reason: "shell-ended" });
    expect((await stateOf(shell)).isAlive).toBe(false);

    await sandbox.link.respawnTerminal(shell);

    expect((await run("echo again")).stdout).toBe("again\n");
  });

  test("`set -e` ends the shell with the failing status", async () => {
    expect(await run("set -e; (exit 5); echo no")).toMatchObject({ exitCode: 5 });
    await sandbox.link.respawnTerminal(shell);
    expect((await run("echo $-")).stdout).not.toContain("e");
  });
});

async function drain(id: number): Promise<{ exitCode: number }> {
  const reader = sandbox.link.readCommand(id);
  for await (const _ of reader);
  return reader.result;
}

describe("commands in a POSIX shell", () => {
  test("a shell without key bindings runs commands, also after an interrupt", async () => {
    const dash = await sandbox.link.openTerminal({
      ...rootProgram(["dash", "-i"]),
      cols: 80,
      rows: 24,
    });
    const posix = (script: string) => run(script, { shell: "posix" }, dash);

    expect(await posix("cd /usr; V=1; echo out; echo err >&2; (exit 4)")).toMatchObject({
      stdout: "out\n",
      stderr: expect.stringContaining("err\n"),
      exitCode: 4,
    });
    expect((await posix("pwd; echo $V")).stdout).toBe("/usr\n1\n");
    const id = await sandbox.link.runInShell(dash, "sleep 30; sleep 30", { shell: "posix" });
    await until(
      () => stageOf(id),
      (stage) => stage === "running",
    );
    await delay(100);
    await sandbox.link.signal(id, 2);
    expect((await outcomeOf(id)).exitCode).toBe(130);
    expect((await posix("echo alive")).stdout).toBe("alive\n");
    await sandbox.link.closeTerminal(dash);
  });
});

describe("a dump in between", () => {
  test("no byte of a printing command is lost or doubled, and calls made meanwhile wait", async () => {
    const lines = 200_000;
    const id = await sandbox.link.runInShell(shell, `seq ${lines}; echo end >&2`, {
      shell: "bash",
      show: false,
    });
    const reader = sandbox.link.readCommand(id);
    const hash = createHash("sha256");
    let rounds = 0;
    const interrupting = (async () => {
      for (; rounds < 20; rounds += 1) {
        await sandbox.link.quiesce();
        const call = sandbox.link.list();
        expect(unixConnections()).toBe(0);
        await sandbox.link.resume();
        await call;
      }
    })();

    let sizeBytes = 0;
    for await (const { stream, bytes } of reader) {
      if (stream === "stdout") hash.update(bytes);
      sizeBytes += bytes.length;
      if (rounds < 20) await delay(1);
    }
    await interrupting;

    const expected = Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join("");
    expect(sizeBytes).toBe(expected.length + 4);
    expect(hash.digest("hex")).toBe(createHash("sha256").update(expected).digest("hex"));
    expect(await reader.result).toMatchObject({ exitCode: 0 });
  });

  test("a paste that the program does not take yet goes on afterwards", async () => {
    const text = `${"0123456789abcde\n".repeat(65_536)}`;
    const terminal = await sandbox.link.openTerminal({
      ...rootProgram(["sh", "-c", "stty raw -echo; sleep 1; head -c 1048576 | sha256sum"]),
      cols: 80,
      rows: 24,
    });
    await delay(200);
    const pasting = sandbox.link.write(terminal, Buffer.from(text));
    await delay(200);

    await sandbox.link.quiesce();
    await sandbox.link.resume();

    await pasting;
    const sum = createHash("sha256").update(text).digest("hex");
    expect(await shown(terminal, 0n, sum)).toContain(sum);
  });

  test("ending the link rejects readers and calls", async () => {
    const { InitLink } = await import("../../src/terminal/index.ts");
    const link = await InitLink.connect(sandbox.socketPath);
    const reader = link.readTerminal(shell, (await stateOf(shell)).endOffset + 1_000_000n);

    link.end(new Error("swapped"));

    await expect(link.list()).rejects.toThrow("swapped");
    await expect(reader.result).rejects.toThrow("swapped");
    await link.ended;
  });
});

/** Sockets of init besides the one it listens on. */
function unixConnections(): number {
  const directory = `/proc/${sandbox.pid}/fd`;
  const targets = readdirSync(directory).map((fd) => readlinkSync(`${directory}/${fd}`));
  return targets.filter((target) => target.startsWith("socket:")).length - 1;
}

describe("terminals", () => {
  test("a reader that is too slow skips ahead and knows it", async () => {
    const terminal = await sandbox.link.openTerminal({
      ...rootProgram(["sh", "-c", "seq 1000000; echo the-end; sleep 60"]),
      cols: 80,
      rows: 24,
    });
    await until(
      () => stateOf(terminal),
      (state) => state.endOffset > 4_000_000n,
    );

    const reader = sandbox.link.readTerminal(terminal, 0n);
    let first: bigint | undefined;
    let seen = "";
    for await (const { offset, bytes } of reader) {
      first ??= offset;
      seen += bytes.toString();
      if (seen.includes("the-end")) break;
    }
    reader.close();

    expect(first).toBeGreaterThan(0n);
    expect(seen).toContain("1000000\r\n");
    await sandbox.link.closeTerminal(terminal);
  });

  test("a resize reaches the program", async () => {
    await sandbox.link.resize(shell, 132, 50);

    expect((await run("stty size", { tty: true })).exitCode).toBe(0);
    expect(await stateOf(shell)).toMatchObject({ cols: 132, rows: 50 });
  });

  test("the end of a terminal's program is reported after its last output", async () => {
    const terminal = await sandbox.link.openTerminal({
      ...rootProgram(["sh", "-c", "echo last; exit 6"]),
      cols: 80,
      rows: 24,
    });
    const reader = sandbox.link.readTerminal(terminal);
    let seen = "";
    for await (const { bytes } of reader) seen += bytes.toString();

    expect(seen).toBe("last\r\n");
    expect(await reader.result).toMatchObject({ exitCode: 6 });
  });
});

describe("own processes", () => {
  test("they get their input and report their end", async () => {
    const id = await sandbox.link.spawn(rootProgram(["sha256sum"]));
    const bytes = Buffer.alloc(3_000_000, "waypoint");
    const outcome = outcomeOf(id);
    await sandbox.link.write(id, bytes);
    await sandbox.link.closeInput(id);

    const sum = createHash("sha256").update(bytes).digest("hex");
    expect(await outcome).toMatchObject({ stdout: `${sum}  -\n`, exitCode: 0 });
  });

  test("a signal ends the process group", async () => {
    const id = await sandbox.link.spawn(rootProgram(["sh", "-c", "sleep 60; :"]));

    await sandbox.link.signal(id, 15);

    expect(await outcomeOf(id)).toMatchObject({ exitCode: 143 });
  });

  test("a program that cannot be started is refused with the reason", async () => {
    await expect(sandbox.link.spawn(rootProgram(["/no/such"]))).rejects.toMatchObject({
      code: "TOOL_FAILED",
      detail: { errno: 2 },
    });
  });

  test("they run as the user and groups asked for", async () => {
    const { stdout } = await spawn(["id"], { uid: 1234, gid: 1235, groups: [7, 8] });

    expect(stdout).toContain("uid=1234 gid=1235");
    expect((await spawn(["sh", "-c", "id -G"], { uid: 1, gid: 2, groups: [7] })).stdout).toBe(
      "2 7\n",
    );
  });

  test("a user who is not root has a live shell, too", async () => {
    const program = { ...bashProgram(), uid: 1234, gid: 1234, groups: [] };
    const terminal = await sandbox.link.openTerminal({ ...program, cwd: "/tmp" });

    const { stdout, stderr } = await run("id -u; test -w /run/waypoint || echo safe", {}, terminal);

    expect({ stdout, stderr }).toEqual({ stdout: "1234\nsafe\n", stderr: "" });
    await sandbox.link.closeTerminal(terminal);
  });

  test("orphans are reaped", async () => {
    await spawn(["sh", "-c", "for i in 1 2 3; do (sleep 0.05 &) ; done"]);
    await delay(300);

    const { stdout } = await spawn(["sh", "-c", "grep -l 'State:.Z' /proc/[0-9]*/status | wc -l"]);
    expect(stdout).toBe("0\n");
  });

  test("signals do not end the first process", async () => {
    await spawn(["sh", "-c", "kill -TERM 1; kill -HUP 1; kill -INT 1; kill -KILL 1; kill -PIPE 1"]);

    expect((await spawn(["echo", "alive"])).stdout).toBe("alive\n");
  });
});

describe("what a session may do", () => {
  const call = (numbers: string) => spawn(["perl", "-e", `syscall(${numbers}) < 0 and print $!+0`]);

  test("system calls that cannot be dumped or lead out are refused", async () => {
    const [ENOSYS, EPERM, EAFNOSUPPORT] = ["38", "1", "97"];
    const newUser = 0x10000000;
    const byArchitecture = process.arch === "x64" ? [272, 41] : [97, 198];

    expect((await call("425, 8, 0")).stdout).toBe(ENOSYS); // io_uring_setup
    expect((await call("435, 0, 0")).stdout).toBe(ENOSYS); // clone3
    expect((await call(`${byArchitecture[0]}, ${newUser}`)).stdout).toBe(EPERM);
    expect((await call(`${byArchitecture[1]}, 38, 5, 0`)).stdout).toBe(EAFNOSUPPORT); // AF_ALG
    expect((await call(`${byArchitecture[1]}, 2, 1, 262`)).stdout).toBe("93"); // MPTCP
  });

  test("capabilities are those of a container and the kernel's files are masked", async () => {
    const { stdout } = await spawn([
      "grep",
      "-E",
      "CapBnd|CapEff|CapInh|Seccomp:|NoNew",
      "/proc/self/status",
    ]);

    expect(stdout).toContain("CapBnd:\t00000000a00425fb");
    expect(stdout).toContain("CapEff:\t00000000a00425fb");
    expect(stdout).toContain("CapInh:\t0000000000000000");
    expect(stdout).toContain("Seccomp:\t2");
    expect(stdout).toContain("NoNewPrivs:\t0");
    const write = await spawn(["sh", "-c", "echo 1 >/proc/sys/kernel/panic"]);
    expect(write.exitCode).not.toBe(0);
    expect((await spawn(["wc", "-c", "/proc/timer_list"])).stdout).toMatch(/^0 /);
  });

  test("nothing of the launcher leaks into the session", async () => {
    const { stdout } = await spawn([
      "sh",
      "-c",
      "ls /proc/1/fd | wc -l; tr '\\0' '\\n' </proc/1/environ | wc -l; hostname",
    ]);

    const [descriptors, variables, name] = stdout.split("\n");
    expect(Number(descriptors)).toBeLessThan(40);
    expect([variables, name]).toEqual(["0", "test"]);
  });
});

test("the link ends when the session does", async () => {
  await using own = await openSandbox();
  const terminal = await own.link.openTerminal(bashProgram());
  const reader = own.link.readTerminal(terminal);

  process.kill(own.pid, "SIGKILL");

  await own.link.ended;
  await expect(reader.result).rejects.toMatchObject({ code: "SESSION_ENDED" });
  await expect(own.link.list()).rejects.toMatchObject({ code: "SESSION_ENDED" });
});
