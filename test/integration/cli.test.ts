import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const CLI = fileURLToPath(new URL("../../dist/cli.cjs", import.meta.url));
const LARGE_OUTPUT_BYTES = 100 * 1000 * 1000;
const MEMORY_KIB_MAX = 160 * 1024;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  await waypoint(["new", "web"]);
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

test("no command loads what checks the contract, which takes longer than most of them", () => {
  const chunks = readdirSync(path.join(path.dirname(CLI), "cli"));
  const loading = chunks.filter((name) =>
    /require\("zod/.test(readFileSync(path.join(path.dirname(CLI), "cli", name), "utf8")),
  );

  expect(chunks).toContain("shared.cjs");
  expect(loading).toEqual([]);
});

interface Finished {
  stdout: string;
  stderr: string;
  exitCode: number | null;
}

function start(args: readonly string[]) {
  return spawn(process.execPath, [CLI, "--dir", own.stateDir, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
  });
}

async function waypoint(args: readonly string[], input = ""): Promise<Finished> {
  const child = start(args);
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close") as Promise<[number | null]>,
  ]);
  return { stdout, stderr, exitCode };
}

async function json(args: readonly string[]) {
  const { stdout } = await waypoint(["--json", ...args]);
  expect(stdout.trimEnd()).not.toContain("\n");
  return JSON.parse(stdout);
}

describe("exec", () => {
  test("keeps stdout and stderr apart and exits with the command's exit code", async () => {
    const line = "echo out; echo err >&2; exit 7";

    const finished = await waypoint(["exec", "web", "--shell", "own", line]);

    expect(finished).toEqual({ stdout: "out\n", stderr: "err\n", exitCode: 7 });
  });

  test("keeps directory and variables from one call to the next", async () => {
    await waypoint(["exec", "web", "--", "cd /srv && export MODE=dev"]);

    const { stdout } = await waypoint(["exec", "web", "--", "echo $PWD $MODE"]);

    expect(stdout).toBe("/srv dev\n");
  });

  test("passes standard input on", async () => {
    const { stdout } = await waypoint(["exec", "web", "-i", "--", "tr", "a-z", "A-Z"], "text\n");

    expect(stdout).toBe("TEXT\n");
  });

  test("with --json returns everything in one line", async () => {
    const result = await json(["exec", "web", "--", "echo out; echo err >&2; (exit 4)"]);

    expect(result).toMatchObject({
      exitCode: 4,
      stdout: "out\n",
      stderr: "err\n",
      truncated: false,
    });
  });

  test("streams a large output in constant memory", async () => {
    const command = ["head", "-c", String(LARGE_OUTPUT_BYTES), "/dev/zero"];
    const child = start(["exec", "web", "--shell", "own", "--", ...command]);
    let receivedBytes = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      receivedBytes += chunk.length;
    });
    const memoryKib = watchMemory(child.pid);

    await once(child, "close");

    expect(receivedBytes).toBe(LARGE_OUTPUT_BYTES);
    expect(memoryKib()).toBeLessThan(MEMORY_KIB_MAX);
  });

  test("ends quietly when nobody reads any more", async () => {
    const child = start(["exec", "web", "--shell", "own", "--", "yes"]);
    const stderr = text(child.stderr);
    await once(child.stdout, "data");
    child.stdout.destroy();

    const [exitCode] = await once(child, "close");

    expect(await stderr).toBe("");
    expect(exitCode).toBe(141);
  });

  test("interrupts the command at the first Ctrl-C", async () => {
    const child = start(["exec", "web", "--shell", "own", "--", "echo started; exec sleep 60"]);
    await once(child.stdout, "data");
    child.kill("SIGINT");

    const [exitCode] = await once(child, "close");

    expect(exitCode).toBe(130);
  });

  test("leaves a command that ignores it at the second Ctrl-C", async () => {
    const line = "trap '' INT; echo started; sleep 60";
    const child = start(["exec", "web", "--shell", "own", "--", line]);
    await once(child.stdout, "data");
    child.kill("SIGINT");
    await new Promise((done) => setTimeout(done, 200));
    child.kill("SIGINT");

    const [exitCode] = await once(child, "close");

    expect(exitCode).toBe(130);
  });

  test("ends with 124 when its time is over, and with 125 for a failure of its own", async () => {
    const late = await waypoint(["exec", "web", "--timeout", "0.3", "--", "sleep", "30"]);
    const failed = await waypoint(["--json", "exec", "nosuch", "--", "true"]);

    expect(late.exitCode).toBe(124);
    expect(failed.exitCode).toBe(125);
    expect(JSON.parse(failed.stderr).error.code).toBe("SESSION_NOT_FOUND");
  });
});

describe("history", () => {
  test("checkpoint, restore, undo and fork carry the promised fields", async () => {
    await waypoint(["exec", "web", "--", "echo 1 > /srv/version"]);
    const checkpoint = await json(["checkpoint", "web", "-m", "first", "--name", "first"]);
    await waypoint(["exec", "web", "--", "echo 2 > /srv/version"]);
    const restored = await json(["restore", "web", "first"]);
    const back = await waypoint(["exec", "web", "--", "cat /srv/version"]);
    const undone = await json(["undo", "web"]);
    const again = await waypoint(["exec", "web", "--", "cat /srv/version"]);
    const forked = await json(["fork", "first", "-n", "2", "--name", "try"]);

    expect(checkpoint).toMatchObject({ name: "first", intent: "first", parent: null });
    expect(restored).toMatchObject({ checkpoint: checkpoint.id, undo: expect.any(String) });
    expect(back.stdout).toBe("1\n");
    expect(undone).toMatchObject({ checkpoint: restored.undo });
    expect(again.stdout).toBe("2\n");
    expect(forked.sessions.map(({ name }: { name: string }) => name)).toEqual(["try-1", "try-2"]);
  });

  test("log and show tell it to people", async () => {
    const log = await waypoint(["log"]);
    const shown = await waypoint(["show", "first"]);

    expect(log.stdout).toMatch(/●.*first/);
    expect(log.stdout).toContain("● try-1");
    expect(log.stdout).toMatch(/↶ web restored to/);
    expect(shown.stdout).toMatch(/^Name: +first$/m);
  });

  test("what a session put into a name of a process is shown, not obeyed", async () => {
    await waypoint(["exec", "web", "--", "bash -c 'exec -a $'\"'\\e[31mred'\"' sleep 60' & true"]);

    const { stdout } = await waypoint(["ps", "web"]);

    expect(stdout).not.toContain("\u001b");
  });
});

describe("the rest", () => {
  test("an error is a line of JSON on stderr, and its kind the exit code", async () => {
    const { stdout, stderr, exitCode } = await waypoint(["--json", "undo", "nosuch"]);

    expect(stdout).toBe("");
    expect(JSON.parse(stderr).error).toMatchObject({ code: "SESSION_NOT_FOUND", detail: {} });
    expect(exitCode).toBe(10);
  });

  test("a wrong command line is exit code 2, also as JSON", async () => {
    const people = await waypoint(["exec", "web", "ls", "-la"]);
    const program = await waypoint(["--json", "lss"]);

    expect(people).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("Put -- before") });
    expect(program.exitCode).toBe(2);
    expect(JSON.parse(program.stderr).error.code).toBe("USAGE_INVALID");
  });

  test("attach without a terminal says what to use instead", async () => {
    const { stderr, exitCode } = await waypoint(["attach", "web"]);

    expect(exitCode).toBe(2);
    expect(stderr).toContain("waypoint exec");
  });

  test("run without a terminal streams and passes the exit code", async () => {
    const ran = await waypoint(["run", "--name", "once", "--", "sh", "-c", "echo in; exit 3"]);

    expect(ran).toMatchObject({ stdout: "in\n", exitCode: 3 });
  });

  test("the daemon can be ended and comes back with the next command", async () => {
    const before = await json(["daemon", "status"]);
    const stopped = await json(["daemon", "stop"]);
    const missing = await waypoint(["--json", "daemon", "status"]);
    const { sessions } = await json(["ls"]);
    const after = await json(["daemon", "status"]);

    expect(stopped).toEqual({ stopped: true, wasRunning: true });
    expect(JSON.parse(missing.stderr).error.code).toBe("DAEMON_UNREACHABLE");
    expect(sessions.some(({ state }: { state: string }) => state === "running")).toBe(true);
    expect(after.pid).not.toBe(before.pid);
  });

  test("a daemon that cannot start says why", async () => {
    const stateDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-cli-"));
    mkdirSync(path.join(stateDir, "daemon.lock"));

    const { stderr, exitCode } = await waypoint(["--json", "--dir", stateDir, "ls"]);

    expect(exitCode).not.toBe(0);
    expect(JSON.parse(stderr).error.message).toContain("daemon.lock");
    rmSync(stateDir, { recursive: true });
  });

  test("stop keeps a session's files, rm removes it", async () => {
    const stopped = await json(["stop", "once", "--no-checkpoint"]);
    const removed = await json(["rm", "once"]);

    expect(stopped).toMatchObject({ session: { state: "stopped" }, checkpoint: null });
    expect(removed).toMatchObject({ name: "once" });
  });
});

/** Looks at a process's peak of resident memory until it ends; returns how to read the peak. */
function watchMemory(pid: number | undefined): () => number {
  let peakKib = 0;
  const timer = setInterval(() => void look(), 20).unref();
  const look = async () => {
    const { readFile } = await import("node:fs/promises");
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    peakKib = Math.max(peakKib, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
  };
  return () => {
    clearInterval(timer);
    return peakKib;
  };
}
