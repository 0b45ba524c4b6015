import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { type Child, pollUntil } from "../../base/index.ts";
import { LoadedProgram } from "./loaded-program.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const preload = path.join(root, ".tools/native/criu-preload.so");
const shell: readonly [string] = ["/bin/sh"];
const stdio = ["pipe", "pipe", "pipe"] as const;
let loaded: LoadedProgram | undefined;

afterEach(() => loaded?.[Symbol.dispose]());

/** A shell stands in for CRIU: the preload has any program wait. */
function load(): LoadedProgram {
  loaded = new LoadedProgram(shell, { LD_PRELOAD: preload });
  return loaded;
}

/** Waits until it is loaded. */
async function start(from: LoadedProgram, line: string, env = {}): Promise<Child> {
  const run = { words: ["--", "-c", line, "name"], env, stdio };
  return await pollUntil("a run", { timeoutMs: 10_000 }, () => from.start(run) ?? undefined);
}

async function endOf(child: Child) {
  const ended = once(child, "exit") as Promise<[number | null, string | null]>;
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("it has no pipes");
  const [out, err, [code, signal]] = await Promise.all([text(stdout), text(stderr), ended]);
  return { out, err, code, signal };
}

/** Children that wait: their words are the room for those of runs. */
function waiting(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").split(" ");
  const isWaiting = (pid: string) =>
    pid !== "" && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("----");
  return children.filter(isWaiting).map(Number);
}

test("a run gets its words, variables and descriptors, and is a child like any other", async () => {
  const from = load();
  const child = await start(from, 'echo "$0 $LOOK $WAYPOINT_LOADED."; echo wrong >&2; exit 3', {
    LOOK: "ü",
  });
  expect(await endOf(child)).toEqual({ out: "name ü .\n", err: "wrong\n", code: 3, signal: null });

  const ended = await start(from, "kill -TERM $$");
  expect(await endOf(ended)).toMatchObject({ code: null, signal: "SIGTERM" });
});

test("others see the words of a run, and it has the group of its starter and no other descriptor", async () => {
  const child = await start(load(), "read line");
  const words = readFileSync(`/proc/${child.pid}/cmdline`, "utf8").split("\0").filter(Boolean);
  expect(words.slice(0, 4)).toEqual(["/bin/sh", "--", "-c", "read line"]);
  const groupOf = (pid: number | undefined) =>
    readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[2];
  await expect.poll(() => groupOf(child.pid)).toBe(groupOf(process.pid));
  const places = readdirSync(`/proc/${child.pid}/fd`).map((fd) =>
    readlinkSync(`/proc/${child.pid}/fd/${fd}`),
  );
  expect(places.filter((each) => /socket|pidfd/.test(each))).toEqual([]);
  child.kill("SIGKILL");
  expect(await endOf(child)).toMatchObject({ signal: "SIGKILL" });
});

test("many at once are told apart", async () => {
  const from = load();
  await endOf(await start(from, "true"));
  const children = await Promise.all(
    Array.from({ length: 30 }, (_, at) => start(from, `echo ${at}; exit ${at}`)),
  );
  const ends = await Promise.all(children.map(endOf));
  expect(ends.map(({ out, code }) => [out, code])).toEqual(ends.map((_, at) => [`${at}\n`, at]));
});

test("one that was killed, or stands still, is missed by nobody, and another takes its place", async () => {
  const from = load();
  for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
    await endOf(await start(from, "true"));
    const [pid] = waiting();
    process.kill(pid ?? 0, signal);
    // Nothing was begun of what is refused.
    const run = { words: ["--", "-c", "echo twice"], env: {}, stdio };
    expect(from.start(run)).toBeNull();
    expect(await endOf(await start(from, "echo again"))).toMatchObject({ out: "again\n" });
    expect(waiting()).not.toContain(pid);
  }
});

test("a copy that nobody waits for any more does nothing, and leaves no process", async () => {
  const from = load();
  await endOf(await start(from, "true"));
  const [pid = 0] = waiting();
  process.kill(pid, "SIGSTOP");
  // What it is told while it stands it would do as soon as it goes on.
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), "waypoint-loaded-")), "late");
  expect(from.start({ words: ["--", "-c", `echo late >${file}`], env: {}, stdio })).toBeNull();
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  expect(existsSync(file)).toBe(false);
  rmSync(path.dirname(file), { recursive: true });
});

test("a run has all words that the program was loaded with", async () => {
  loaded = new LoadedProgram(["/bin/sh", "-c", 'echo "$1 $2"'], { LD_PRELOAD: preload });
  const from = loaded;
  const run = { words: ["--", "name", "first", "second"], env: {}, stdio };
  const child = await pollUntil("a run", { timeoutMs: 10_000 }, () => from.start(run) ?? undefined);
  expect(await endOf(child)).toMatchObject({ out: "first second\n", code: 0 });
});

test("what cannot be said to it, or where it goes does not exist, is told as in any start", async () => {
  const from = load();
  await endOf(await start(from, "true"));
  const env = {};
  expect(from.start({ words: ["--", "a\0b"], env, stdio })).toBeNull();
  expect(from.start({ words: ["--", "x".repeat(100_000)], env, stdio })).toBeNull();
  expect(from.start({ words: Array.from({ length: 2_000 }, () => "x"), env, stdio })).toBeNull();

  const child = from.start({ words: ["--net", "/nonexistent", "--", "-c", "echo no"], env, stdio });
  if (child === null) throw new Error("it is not ready any more");
  expect(await endOf(child)).toEqual({
    out: "",
    err: "enter the network /nonexistent: No such file or directory\n",
    code: 1,
    signal: null,
  });
});

test("one that is killed while it is loaded is loaded again, however often", async () => {
  const from = load();
  const run = { words: ["--", "-c", "true"], env: {}, stdio };
  for (let round = 0; round < 5; round += 1) {
    from.start(run);
    const pid = await pollUntil("one", { timeoutMs: 10_000 }, () => waiting()[0]);
    process.kill(pid, "SIGKILL");
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  }
  expect(await endOf(await start(from, "echo again"))).toMatchObject({ out: "again\n" });
});

test("a program that does not wait is loaded three times, and no more", async () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-loaded-"));
  const file = path.join(directory, "count");
  const from = new LoadedProgram(["/bin/sh", "-c", `echo >>${file}`], {});
  loaded = from;
  const run = { words: ["--"], env: {}, stdio };
  const count = () => (existsSync(file) ? readFileSync(file, "utf8").length : 0);
  const isLeft = async (wanted: number) => {
    await expect.poll(() => [from.start(run), count()]).toEqual([null, wanted]);
    await expect.poll(waiting).toEqual([]);
  };
  await isLeft(3);
  await isLeft(3);
  rmSync(directory, { recursive: true });
});

test("its end leaves no process and no descriptor", async () => {
  const open = () => readdirSync("/proc/self/fd").length;
  const before = open();
  const from = load();
  await endOf(await start(from, "true"));
  const [pid] = waiting();
  from[Symbol.dispose]();
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  await expect.poll(open).toBe(before);
  expect(from.start({ words: ["--", "-c", "true"], env: {}, stdio })).toBeNull();
});
