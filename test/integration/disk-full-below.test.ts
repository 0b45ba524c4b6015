import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Checkpoint, type Session, Waypoint } from "../../src/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { runCommand } from "../support/command-line.ts";
import { failureOf } from "../support/failing-command.ts";
import { eventually } from "../support/test-waypoint.ts";
import { readWholeState } from "../support/whole-state.ts";

const run = promisify(execFile);

/** How often a daemon is killed on the full disk; more on demand. */
const KILLS = Number(process.env["WAYPOINT_TEST_KILLS"] ?? 3);

/** A store may become much larger than the disk that it lies on: its image is sparse. */
const STORE_BYTES = 2 * 1024 ** 3;

let diskDir: string;
let own: { stateDir: string; waypoint: Waypoint };
let session: Session;
let good: Checkpoint;

beforeEach(async () => {
  diskDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-disk-"));
  await run("mount", ["-t", "tmpfs", "-o", "size=600m", "tmpfs", diskDir]);
  const stateDir = path.join(diskDir, "state");
  mkdirSync(stateDir);
  process.env["WAYPOINT_STORE_BYTES"] = String(STORE_BYTES);
  own = { stateDir, waypoint: await Waypoint.open({ stateDir }) };
  session = await own.waypoint.new({ name: "web" });
  await session.exec("cd /srv; export MARK=kept; echo durable > file");
  good = await session.checkpoint({ name: "good", durable: true });
});

afterEach(async () => {
  await endDaemon();
  await run("umount", [diskDir]);
  rmSync(diskDir, { recursive: true });
});

async function endDaemon(): Promise<void> {
  const { pid } = await callOperation(own.stateDir, "daemon.status", {});
  await callOperation(own.stateDir, "daemon.stop", { sessions: true });
  await eventually(
    "the daemon's end",
    () => existsSync(`/proc/${pid}`),
    (exists) => !exists,
  );
}

async function fillDisk(): Promise<void> {
  await run("sh", ["-c", `head -c 1G /dev/zero > ${diskDir}/ballast; true`]);
}

test("when others fill the disk nothing begins, and all works again when there is room", async () => {
  await fillDisk();
  const before = await readWholeState(own);

  const failures = [
    await failureOf(own, ["checkpoint", "web"]),
    await failureOf(own, ["new", "more"]),
    await failureOf(own, ["fork", "good"]),
    await failureOf(own, ["restore", "web", "good"]),
  ];

  expect(failures.map(({ error, exitCode }) => [error.code, exitCode])).toEqual(
    failures.map(() => ["STORE_FULL", 20]),
  );
  expect(await readWholeState(own)).toEqual(before);

  rmSync(path.join(diskDir, "ballast"));
  await session.checkpoint({ durable: true });
  await own.waypoint.new({ name: "more" });
  await good.fork();
  await session.restore(good);
  expect((await session.exec("echo $PWD $MARK; cat file")).stdout).toBe("/srv kept\ndurable\n");

  // A standby that could not be removed without room is removed by the next daemon.
  await endDaemon();
  expect(await own.waypoint.sessions()).toHaveLength(3);
});

test("what a session still writes breaks the store; durable checkpoints outlive it", async () => {
  await fillDisk();
  await session.exec("head -c 50M /dev/urandom > /srv/lost; sync", { shell: "own" });
  rmSync(path.join(diskDir, "ballast"));

  const { error, exitCode } = await failureOf(own, ["checkpoint", "web"]);

  expect({ code: error.code, exitCode }).toEqual({ code: "STORE_FAILED", exitCode: 21 });
  expect(error.hint).toContain("waypoint daemon stop --sessions");
  await endDaemon();
  await session.restore(good);
  expect((await session.exec("echo $PWD $MARK; cat file")).stdout).toBe("/srv kept\ndurable\n");
});

test("a daemon killed on a full disk is followed by one that lists and ends the sessions", async () => {
  await fillDisk();
  await session.exec("head -c 50M /dev/urandom > /srv/lost; sync", { shell: "own" });
  const { pid } = await callOperation(own.stateDir, "daemon.status", {});
  process.kill(pid, "SIGKILL");
  await eventually(
    "the daemon's end",
    () => existsSync(`/proc/${pid}`),
    (exists) => !exists,
  );

  expect((await own.waypoint.sessions()).map(({ name }) => name)).toEqual(["web"]);
  const { checkpoints } = await own.waypoint.log();
  expect(checkpoints.map(({ id }) => id)).toEqual([good.id]);
  await endDaemon();

  rmSync(path.join(diskDir, "ballast"));
  await session.restore(good);
  expect((await session.exec("echo $PWD $MARK; cat file")).stdout).toBe("/srv kept\ndurable\n");
});

test("nobody is told that what is durable in memory survives the machine's end", async () => {
  const told = async (...words: string[]) => (await runCommand(own.stateDir, words)).stdout;

  expect(await told("checkpoint", "web", "--durable")).toContain("Durable until the machine stops");
  expect(await told("show", "good")).toMatch(/^Stage: +durable until the machine stops/m);
  expect(await told("daemon", "status")).toMatch(/^State directory: .*in memory/m);
  expect(await told("doctor")).toContain("in memory: nothing there survives");
  expect(await callOperation(own.stateDir, "daemon.status", {})).toMatchObject({
    isStateInMemory: true,
  });
  expect((await own.waypoint.show("good")).stage).toBe("durable");
});

test("however often a daemon is killed on a full disk, the next one starts, and ends all", async () => {
  await fillDisk();
  for (let kills = 0; kills < KILLS; kills += 1) {
    // Now that the disk has no room, each write of the session may be the one that breaks the store.
    const { pid } = await callOperation(own.stateDir, "daemon.status", {});
    const writing = session
      .exec(`head -c 20M /dev/urandom > /srv/lost-${kills}; sync`, { shell: "own" })
      .catch(() => {});
    if (kills % 2 === 1) await writing;
    process.kill(pid, "SIGKILL");
    await eventually(
      "the daemon's end",
      () => existsSync(`/proc/${pid}`),
      (exists) => !exists,
    );
    await writing;

    const next = await callOperation(own.stateDir, "daemon.status", {});

    expect(next.pid).not.toBe(pid);
    expect((await own.waypoint.sessions()).map(({ name }) => name)).toEqual(["web"]);
  }
  await endDaemon();
  expect(await processesOf(own.stateDir)).toEqual([]);

  rmSync(path.join(diskDir, "ballast"));
  await session.restore(good);
  expect((await session.exec("echo $PWD $MARK; cat file")).stdout).toBe("/srv kept\ndurable\n");
});

/** Processes that see the state directory's store in their mounts. */
async function processesOf(stateDir: string): Promise<string[]> {
  const look = `grep -ls " ${stateDir}/store " /proc/[0-9]*/mountinfo; grep -ls "upperdir=${stateDir}/store" /proc/[0-9]*/mountinfo; true`;
  const { stdout } = await run("sh", ["-c", look]);
  return stdout.split("\n").filter((line) => line !== "");
}
