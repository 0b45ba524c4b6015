import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { nativePath } from "../../src/linux/host/index.ts";
import { WarmMemory } from "../../src/linux/store/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { untilDurable } from "../support/checkpoint-space.ts";
import { runCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { MemoryGroup } from "../support/memory-group.ts";
import { runInDaemon } from "../support/run-in-daemon.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const MEBIBYTE = 1024 ** 2;
const PROGRAM = nativePath(path.resolve(import.meta.dirname, "../.."), "warm-memory");
const DEADLINE_MS = 60_000;

/** Lets a program of a session hold memory of its own. */
async function holdMemory(session: Session, mebibytes: number): Promise<void> {
  const program = `import os,time; held = os.urandom(${mebibytes} << 20); open("/tmp/held","w"); time.sleep(1e6)`;
  await session.exec(`python3 -c '${program}' & until test -e /tmp/held; do sleep 0.05; done`);
}

const status = (own: TestWaypoint) => callOperation(own.stateDir, "daemon.status", {});

async function untilHeld(own: TestWaypoint, isIt: (heldBytes: number) => boolean) {
  const look = async () => (await status(own)).warmMemory.heldBytes;
  return await eventually("warm memory to be as it should", look, isIt, DEADLINE_MS);
}

/** The program that holds the memory of a daemon. */
async function holderOf(own: TestWaypoint): Promise<number> {
  const { pid } = await status(own);
  const { stdout } = await promisify(execFile)("pgrep", ["-P", String(pid), "-x", "warm-memory"]);
  return Number(stdout);
}

async function untilGone(pid: number): Promise<void> {
  const look = () => existsSync(`/proc/${pid}`);
  await eventually("the program to be gone", look, (isThere) => !isThere, DEADLINE_MS);
}

test("memory is held for the next checkpoint, told by the daemon, and given back when nobody needs it", async () => {
  await using own = await openTestWaypoint();
  const session = await own.waypoint.new();
  await session.checkpoint();
  expect((await status(own)).warmMemory).toEqual({ heldBytes: 0, wantedBytes: 0 });
  await holdMemory(session, 48);

  const large = await session.checkpoint();
  const heldBytes = await untilHeld(own, (held) => held > 48 * MEBIBYTE);

  expect(heldBytes).toBeLessThan(128 * MEBIBYTE);
  expect((await runCommand(own.stateDir, ["daemon", "status"])).stdout).toMatch(
    /Warm memory: +\d+(\.\d+)? MiB of \d+(\.\d+)? MiB that are to be ready for the next checkpoint/,
  );
  const holder = await holderOf(own);
  await untilDurable([large]);
  await session.remove({ force: true });
  await untilHeld(own, (held) => held === 0);
  await untilGone(holder);
});

test("a control group short of memory gets what is held at once, and nothing is ended for it", async () => {
  using group = new MemoryGroup("warm", 256 * MEBIBYTE);
  const ends: string[] = [];
  const memory = new WarmMemory(
    () => group.inside([PROGRAM, String(512 * MEBIBYTE)]),
    (how) => ends.push(how),
  );
  try {
    memory.keep(192 * MEBIBYTE);
    const isAll = (held: number) => held === 192 * MEBIBYTE;
    await eventually("the memory to be held", () => memory.heldBytes(), isAll, DEADLINE_MS);

    const [program = "", ...words] = group.inside([
      "python3",
      "-c",
      `held = bytearray(${200 * MEBIBYTE}); print(len(held))`,
    ]);
    const { stdout } = await promisify(execFile)(program, words);

    expect(Number(stdout)).toBe(200 * MEBIBYTE);
    expect(group.kills()).toBe(0);
    expect(ends).toEqual([]);
    expect(await memory.heldBytes()).toBeLessThan(64 * MEBIBYTE);
  } finally {
    await memory.close();
  }
});

test("what is held is let go of at once, but for what is to be left", async () => {
  const memory = new WarmMemory(() => [PROGRAM, String(512 * MEBIBYTE)]);
  memory.keep(64 * MEBIBYTE);
  const isAll = (held: number) => held === 64 * MEBIBYTE;
  await eventually("the memory to be held", () => memory.heldBytes(), isAll, DEADLINE_MS);

  memory.leave(16 * MEBIBYTE);
  expect(await memory.heldBytes()).toBe(16 * MEBIBYTE);

  await memory.close();
  expect(await memory.heldBytes()).toBe(0);
});

test("a daemon that is killed leaves nothing that is held", async () => {
  await using own = await openTestWaypoint();
  const session = await own.waypoint.new();
  await holdMemory(session, 32);
  await session.checkpoint();
  await untilHeld(own, (held) => held > 0);
  const [{ pid }, holder] = [await status(own), await holderOf(own)];
  expect(readFileSync(`/proc/${holder}/oom_score_adj`, "utf8")).toBe("1000\n");

  await killDaemon(pid);

  await untilGone(holder);
});

test("a checkpoint does not need the program that holds memory, which comes back for the next one", async () => {
  await using own = await openTestWaypoint();
  const session = await own.waypoint.new();
  await holdMemory(session, 32);
  await session.checkpoint();
  await untilHeld(own, (held) => held > 0);

  process.kill(await holderOf(own), "SIGKILL");
  const checkpoint = await session.checkpoint();
  const [fork] = await checkpoint.fork();

  expect((await fork?.exec("pgrep -c python3", { shell: "own" }))?.stdout).toBe("1\n");
  await untilHeld(own, (held) => held > 0);
});

test("a program that cannot hold memory costs nothing but that", async () => {
  await using own = await openTestWaypoint();
  const session = await own.waypoint.new();
  await holdMemory(session, 32);
  await runInDaemon(own, `mount --bind /bin/false ${PROGRAM}`);
  try {
    const checkpoint = await session.checkpoint({ durable: true });
    const again = await session.checkpoint({ durable: true });

    expect([checkpoint.info.stage, again.info.stage]).toEqual(["durable", "durable"]);
    const { warmMemory } = await status(own);
    // What the pause copied in small pieces is kept without that program.
    expect(warmMemory.heldBytes).toBeLessThanOrEqual(16 * MEBIBYTE);
    expect(warmMemory.wantedBytes).toBeGreaterThan(32 * MEBIBYTE);
  } finally {
    await runInDaemon(own, `umount ${PROGRAM}`);
  }
});
