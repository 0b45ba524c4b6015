import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let session: Session;
let machineDir: string;

beforeAll(async () => {
  machineDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-browse-"));
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web", net: "none", env: { HOME: "/none" } });
  await session.exec(
    "mkdir -p /srv/app; echo then > /srv/app/file; cp /usr/bin/id /srv/app/id; chmod 4755 /srv/app/id; rm /etc/hostname",
  );
  await session.checkpoint({ name: "first" });
  await session.exec("echo now > /srv/app/file");
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
  rmSync(machineDir, { recursive: true, force: true });
});

function mounts(): string[] {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return lines.filter((line) => line.includes(own.stateDir) && line.includes(" - overlay "));
}

test("exactly the files of the moment are there, and cannot be changed", async () => {
  const { path: at } = await own.waypoint.browse("first");
  const [mount = ""] = mounts();

  expect(readFileSync(path.join(at, "srv/app/file"), "utf8")).toBe("then\n");
  expect(readdirSync(path.join(at, "etc"))).not.toContain("hostname");
  expect(() => writeFileSync(path.join(at, "srv/app/file"), "x")).toThrow("EROFS");
  for (const flag of ["ro", "nosuid", "nodev"]) expect(mount.split(" ")[5]).toContain(flag);
  // A state directory is for root alone; given one that all may enter, the bit still means nothing.
  const open = path.join(machineDir, "open");
  mkdirSync(open);
  await promisify(execFile)("chmod", ["755", machineDir, open]);
  await own.waypoint.browse("first", { directory: open });
  const { stdout } = await promisify(execFile)("setpriv", [
    ...["--reuid=65534", "--clear-groups", path.join(open, "srv/app/id"), "-u"],
  ]);
  expect(stdout).toBe("65534\n");
  const ended = await own.waypoint.endBrowse((await own.waypoint.browses())[0]?.checkpoint ?? "");
  expect(ended).toHaveLength(2);
  expect(mounts()).toEqual([]);
  expect(readdirSync(open)).toEqual([]);
});

test("what is browsed ends by every name that a moment has", async () => {
  const { id } = await own.waypoint.show("first");
  await own.waypoint.browse("web@~0");
  expect(await own.waypoint.endBrowse("web@~0")).toHaveLength(1);
  for (const name of ["first", id, id.slice(0, -1)]) {
    await own.waypoint.browse("first");
    expect(await own.waypoint.endBrowse(name)).toHaveLength(1);
  }
  expect(await own.waypoint.browses()).toEqual([]);
});

test("the command prints the directory, lists and ends", async () => {
  const directory = path.join(machineDir, "with a space");
  mkdirSync(directory);
  const begun = await runCommand(own.stateDir, ["browse", "web", directory]);
  const listed = await runCommand(own.stateDir, ["browse", "--list"]);
  const file = readFileSync(path.join(directory, "srv/app/file"), "utf8");
  const again = await runCommand(own.stateDir, ["browse", "first", directory]);
  const ended = await runCommand(own.stateDir, ["browse", "--end", directory]);
  const nothing = await runCommand(own.stateDir, ["browse", "--end", directory]);

  expect(begun.stdout).toBe(`${directory}\n`);
  expect(file).toBe("now\n");
  expect(listed.stdout).toContain(directory);
  expect([again.exitCode, ended.exitCode, nothing.exitCode]).toEqual([12, 0, 10]);
  expect(readdirSync(directory)).toEqual([]);
});

test("a checkpoint that is browsed is not removed, unless that is forced", async () => {
  const other = await own.waypoint.new({ name: "other", net: "none" });
  await other.exec("echo kept > /srv/kept");
  const checkpoint = await other.checkpoint();
  await other.stop({ checkpoint: false });
  const { path: at } = await own.waypoint.browse(checkpoint);

  await expect(other.remove()).rejects.toMatchObject({ code: "CHECKPOINT_IN_USE" });
  expect(readFileSync(path.join(at, "srv/kept"), "utf8")).toBe("kept\n");
  await other.remove({ force: true });
  expect(mounts()).toEqual([]);
  expect(await own.waypoint.browses()).toEqual([]);
});

test("after kill -9 of the daemon the next one leaves nothing of what was browsed", async () => {
  const directory = path.join(machineDir, "killed");
  mkdirSync(directory);
  await own.waypoint.browse("first", { directory });
  await own.waypoint.browse("web");
  const pid = await own.daemonPid();
  process.kill(pid, "SIGKILL");
  await eventually(
    "the daemon's end",
    () => readFileSync("/proc/self/mountinfo", "utf8").length > 0 && !isAlive(pid),
    (isGone) => isGone,
  );
  const held = readFileSync(path.join(directory, "srv/app/file"), "utf8");
  await own.waypoint.sessions();

  expect(held).toBe("then\n");
  expect(mounts()).toEqual([]);
  expect(readdirSync(directory)).toEqual([]);
  expect(readdirSync(path.join(own.stateDir, "browse"))).toEqual([]);
  expect(await own.waypoint.browses()).toEqual([]);
});

test("what is browsed ends with the daemon", async () => {
  await own.waypoint.browse("first");
  await runCommand(own.stateDir, ["daemon", "stop"]);

  expect(await eventually("no mount", mounts, (left) => left.length === 0)).toEqual([]);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
