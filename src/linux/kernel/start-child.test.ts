import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProcess, startChild, startChildrenWith, startProgram } from "../../base/index.ts";
import { startChildByVfork } from "./start-child.ts";

beforeAll(() => startChildrenWith(startChildByVfork));

const baseIndex = fileURLToPath(new URL("../../base/index.ts", import.meta.url));
const startChildFile = fileURLToPath(new URL("./start-child.ts", import.meta.url));
const directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-start-child-"));
afterAll(() => rmSync(directory, { recursive: true }));

test("a program gets its words, environment, directory and input, and its output comes back", async () => {
  const line = 'read line; echo "$0|$1|$LOOK|$PWD|$line"; echo wrong >&2; exit 3';
  const done = await runProcess(["sh", "-c", line, "a  b", "ö"], {
    env: { PATH: process.env["PATH"], LOOK: "ü", GONE: undefined },
    cwd: directory,
    input: "said\n",
    okExitCodes: [3],
  });

  expect(done).toEqual({
    exitCode: 3,
    stdout: `a  b|ö|ü|${directory}|said\n`,
    stderr: "wrong\n",
  });
});

test("much output and input go through, in both directions at once", async () => {
  const input = "0123456789abcde\n".repeat(40_000);
  const { stdout } = await runProcess(["cat"], { input });
  expect(stdout).toBe(input);
});

/** Descriptors and what is behind them; one that was closed meanwhile is none. */
function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    const file = `/proc/self/fd/${fd}`;
    return existsSync(`/proc/self/fdinfo/${fd}`) ? [`${fd} ${readlinkSync(file)}`] : [];
  });
}

test("what cannot be started is told by its code, and nothing stays open", async () => {
  // By what they are, not by their number: those of the test before may close meanwhile.
  const before = new Set(openFiles());
  await expect(runProcess(["no-such-program-here"])).rejects.toMatchObject({
    code: "TOOL_FAILED",
    message: expect.stringContaining("ENOENT"),
  });
  await expect(runProcess([directory])).rejects.toThrow("EACCES");
  await expect(runProcess(["true", "a\0b"])).rejects.toThrow("EINVAL");
  await expect(runProcess(["true"], { cwd: "/nonexistent" })).rejects.toThrow("ENOENT");
  await expect.poll(() => openFiles().filter((file) => !before.has(file))).toEqual([]);
});

test("a signal, a deadline and a caller that gives up end a program", async () => {
  const killed = runProcess(["sh", "-c", "kill -TERM $$"]);
  await expect(killed).rejects.toThrow("ended by SIGTERM");
  await expect(runProcess(["sleep", "100"], { timeoutMs: 50 })).rejects.toThrow("SIGKILL");
  const controller = new AbortController();
  const given = runProcess(["sleep", "100"], { signal: controller.signal });
  setTimeout(() => controller.abort(), 20);
  await expect(given).rejects.toThrow("aborted");
  await expect(runProcess(["sleep", "100"], { signal: controller.signal })).rejects.toThrow(
    "aborted",
  );
});

test("a program has every signal's default, an empty mask, and no descriptor but those it is given", async () => {
  const fd = openSync("/dev/zero", "r");
  const own = openSync("/dev/full", "r");
  try {
    const line = "grep -E 'Sig(Blk|Ign)' /proc/self/status; ls -l /proc/$$/fd";
    const { stdout } = await runProcess(["sh", "-c", line], { descriptors: [fd, fd] });
    expect(stdout).toMatch(/SigBlk:\t0+\nSigIgn:\t0+\n/);
    const shown = stdout.match(/\d+ -> \S+/g) ?? [];
    expect(shown).toContain("0 -> /dev/null");
    expect(shown.filter((each) => each.endsWith("zero"))).toEqual([
      "3 -> /dev/zero",
      "4 -> /dev/zero",
    ]);
    expect(stdout).not.toContain("/dev/full");
  } finally {
    closeSync(fd);
    closeSync(own);
  }
});

test("descriptors whose numbers are others' targets arrive in their places", async () => {
  const [low, high] = [openSync("/dev/zero", "r"), openSync("/dev/full", "r")].sort(
    (a, b) => a - b,
  );
  try {
    // Enough of them that both numbers are targets as well.
    const count = (high ?? 0) + 2;
    const descriptors = Array.from({ length: count }, (_, at) => (at % 2 === 0 ? high : low));
    const { stdout } = await runProcess(["ls", "-l", "/proc/self/fd"], {
      descriptors: descriptors as number[],
    });
    const found = [...stdout.matchAll(/(\d+) -> (\/dev\/(?:zero|full))/g)];
    expect(found).toHaveLength(count);
    const kinds = new Set(found.map(([, at, file]) => `${Number(at) % 2} ${file}`));
    expect(kinds.size).toBe(2);
  } finally {
    closeSync(low as number);
    closeSync(high as number);
  }
});

test("the ends of many at once are noticed, each with its own", async () => {
  const codes = Array.from({ length: 60 }, (_, at) => at);
  const ended = codes.map((code) =>
    runProcess(["sh", "-c", `exit ${code}`], { okExitCodes: codes }),
  );
  expect((await Promise.all(ended)).map(({ exitCode }) => exitCode)).toEqual(codes);
});

test("a program beside ours is written to and read from until it is ended", async () => {
  const program = startProgram(["cat"]);
  program.stdin.write("one\n");
  const [first] = await program.stdout.take(1).toArray();
  expect(String(first)).toBe("one\n");
  program.kill();
  expect((await program.ended).how).toBe("SIGKILL");
});

test("output that nobody reads does not keep an end from being told", async () => {
  const child = startChild(["sh", "-c", "echo said"], { stdio: ["ignore", "pipe", "pipe"] });
  const closed = new Promise((resolve) => child.once("close", resolve));
  expect(await closed).toBe(0);
  expect(child.kill("SIGKILL")).toBe(false);
});

test("a program that stands for others is gone when the one that had it stand is killed", async () => {
  const script = `
    import { startChildrenWith, backgroundPrograms, runProcess } from ${JSON.stringify(baseIndex)};
    import { startChildByVfork } from ${JSON.stringify(startChildFile)};
    import { readFileSync } from "node:fs";
    startChildrenWith(startChildByVfork);
    backgroundPrograms.hold();
    void runProcess(["sleep", "1000"], { isBackground: true });
    const children = "/proc/self/task/" + process.pid + "/children";
    const pid = readFileSync(children, "utf8").trim();
    const state = () => readFileSync("/proc/" + pid + "/stat", "utf8").split(" ")[2];
    while (state() !== "T") await new Promise((resolve) => setTimeout(resolve, 5));
    process.stdout.write(pid, () => process.kill(process.pid, "SIGKILL"));
  `;
  const holder = spawn(process.execPath, ["--input-type=module", "-e", script], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [pid] = await Promise.all([text(holder.stdout), once(holder, "exit")]);
  expect(Number(pid)).toBeGreaterThan(1);

  // One that was ended and is not waited for yet is no program any more.
  await expect.poll(() => stateOf(pid), { timeout: 20_000 }).toMatch(/^[ZX]?$/);
});

/** The kernel's letter for what a process does; empty where there is none. */
function stateOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[2] ?? "";
  } catch {
    return "";
  }
}
