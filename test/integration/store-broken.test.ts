import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync, truncateSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Checkpoint, type Session, Waypoint } from "../../src/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { failureOf } from "../support/failing-command.ts";
import { runInDaemon } from "../support/run-in-daemon.ts";
import { breakSuperblocks, contentOf, setUnknownReadOnlyFeature } from "../support/store-image.ts";
import { eventually } from "../support/test-waypoint.ts";

const STORE_BYTES = 512 * 1024 ** 2;

let stateDir: string;
let imagePath: string;
let own: { stateDir: string; waypoint: Waypoint };
let session: Session;
let good: Checkpoint;

beforeAll(async () => {
  stateDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-broken-"));
  imagePath = path.join(stateDir, "store.img");
  process.env["WAYPOINT_STORE_BYTES"] = String(STORE_BYTES);
  own = { stateDir, waypoint: await Waypoint.open({ stateDir }) };
  session = await own.waypoint.new({ name: "web" });
  await session.exec("cd /srv; export MARK=kept; echo durable > file");
  good = await session.checkpoint({ name: "good", durable: true });
});

/** Each test finds the store whole, and no daemon. */
beforeEach(() => endDaemon());

afterAll(async () => {
  await endDaemon();
  rmSync(stateDir, { recursive: true });
});

const status = () => callOperation(stateDir, "daemon.status", {});

async function endDaemon(): Promise<void> {
  const { pid } = await status();
  await callOperation(stateDir, "daemon.stop", { sessions: true });
  await eventually(
    "the daemon's end",
    () => existsSync(`/proc/${pid}`),
    (exists) => !exists,
  );
}

/** What is known must be there, and what needs the store must name it. */
async function expectListedAndRefused(how: string): Promise<void> {
  expect((await own.waypoint.sessions()).map(({ name }) => name)).toEqual(["web"]);
  expect((await own.waypoint.show("good")).id).toBe(good.id);
  const log = await callOperation(stateDir, "log", { session: "web" });
  expect(JSON.stringify(log)).toContain(good.id);
  const failures = [
    await failureOf(own, ["restore", "web", "good"]),
    await failureOf(own, ["new", "more"]),
    await failureOf(own, ["fork", "good"]),
    await failureOf(own, ["rm", "--force", "--yes", "web"]),
  ];
  for (const { error, exitCode } of failures) {
    expect({ code: error.code, exitCode }).toEqual({ code: "STORE_FAILED", exitCode: 21 });
    expect(error.message).toContain(how);
    expect(error.hint).toContain(imagePath);
  }
  expect((await own.waypoint.sessions()).map(({ name }) => name)).toEqual(["web"]);
}

async function expectWhole(): Promise<void> {
  expect((await status()).storeHealth).toEqual({ state: "writable", reason: null });
  await session.restore(good);
  expect((await session.exec("echo $PWD $MARK; cat file")).stdout).toBe("/srv kept\ndurable\n");
}

describe("a store that cannot be mounted is told, stays as it is, and can be mended", () => {
  const lostPath = () => `${imagePath}.lost`;

  test.each([
    { what: "whose superblock is gone", damage: () => breakSuperblocks(imagePath) },
    {
      what: "that was cut short",
      damage: () => {
        copyFileSync(imagePath, lostPath());
        truncateSync(imagePath, STORE_BYTES / 4);
        return () => renameSync(lostPath(), imagePath);
      },
    },
    {
      what: "whose image is missing",
      damage: () => {
        renameSync(imagePath, lostPath());
        return () => renameSync(lostPath(), imagePath);
      },
    },
  ])("one $what", async ({ damage }) => {
    const undo = damage();
    const before = contentOf(imagePath);

    const { storeHealth } = await status();

    expect(storeHealth.state).toBe("unusable");
    expect(storeHealth.reason).toContain(imagePath);
    await expectListedAndRefused("cannot be mounted");
    await endDaemon();
    expect(contentOf(imagePath)).toEqual(before);
    undo();
    await expectWhole();
  });
});

test("a store that mounts read-only alone is read, and works again when it is mended", async () => {
  const undo = setUnknownReadOnlyFeature(imagePath);
  const before = contentOf(imagePath);

  const { storeHealth } = await status();

  expect(storeHealth.state).toBe("read-only");
  await expectListedAndRefused("is read-only");
  await endDaemon();
  expect(contentOf(imagePath)).toEqual(before);
  undo();
  await expectWhole();
});

test("a store that turns read-only under a running daemon is told at the next write", async () => {
  await session.restore(good);
  // Refused while something in the store is open for writing, as at the end of a restore.
  const remount = `mount -o remount,ro ${path.join(stateDir, "store")} && echo done || true`;
  await eventually(
    "a read-only store",
    () => runInDaemon(own, remount),
    (said) => said === "done\n",
  );

  const { error, exitCode } = await failureOf(own, ["checkpoint", "web"]);

  expect({ code: error.code, exitCode }).toEqual({ code: "STORE_FAILED", exitCode: 21 });
  expect(error.message).toContain("is read-only");
  expect((await status()).storeHealth.state).toBe("read-only");
  const { pid } = await status();
  process.kill(pid, "SIGKILL");
  await eventually(
    "the daemon's end",
    () => existsSync(`/proc/${pid}`),
    (exists) => !exists,
  );
  expect((await own.waypoint.sessions()).map(({ state }) => state)).toEqual(["running"]);
  await expectListedAndRefused("is read-only");
  expect((await own.waypoint.sessions()).map(({ state }) => state)).toEqual(["stopped"]);
  await endDaemon();
  await expectWhole();
});

test("a catalog that is lost with the store out of reach is made again from it later", async () => {
  const catalogPath = path.join(stateDir, "catalog.sqlite");
  rmSync(catalogPath);
  const undo = breakSuperblocks(imagePath);

  expect(await own.waypoint.sessions()).toEqual([]);

  await endDaemon();
  expect(existsSync(catalogPath)).toBe(false);
  undo();
  expect((await own.waypoint.sessions()).map(({ name }) => name)).toEqual(["web"]);
  await expectWhole();
});
