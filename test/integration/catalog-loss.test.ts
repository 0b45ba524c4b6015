import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const TOO_NEW = "FORMAT_TOO_NEW";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});
afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

/** Stops the daemon and waits until it has let go of the catalog. */
async function stopDaemon(): Promise<void> {
  const pid = await own.daemonPid();
  await callOperation(own.stateDir, "daemon.stop", {});
  await eventually(
    "the end of the daemon",
    () => existsSync(`/proc/${pid}`),
    (exists) => !exists,
  );
}

test("a session and its checkpoints survive the loss of the catalog", async () => {
  const session = await own.waypoint.new({ name: "kept" });
  await session.exec("X=before");
  const checkpoint = await session.checkpoint({ name: "good", intent: "all is well" });
  await session.exec("X=after");
  await stopDaemon();
  for (const ending of ["", "-wal", "-shm"]) {
    rmSync(path.join(own.stateDir, `catalog.sqlite${ending}`), { force: true });
  }

  const found = await own.waypoint.session("kept");

  expect(found.id).toBe(session.id);
  expect((await found.exec("echo $X")).stdout).toBe("after\n");
  expect(await own.waypoint.show("good")).toMatchObject({
    id: checkpoint.id,
    intent: "all is well",
  });
  await found.restore("good");
  expect((await found.exec("echo $X")).stdout).toBe("before\n");
  await found.remove({ force: true });
});

test("a damaged catalog is kept aside and made anew", async () => {
  const session = await own.waypoint.new({ name: "kept-too" });
  await session.exec("X=1");
  await stopDaemon();
  writeFileSync(path.join(own.stateDir, "catalog.sqlite"), "no database at all ".repeat(100));

  const found = await own.waypoint.session("kept-too");

  expect((await found.exec("echo $X")).stdout).toBe("1\n");
  expect(readdirSync(own.stateDir).some((name) => name.includes(".damaged-"))).toBe(true);
  await found.remove({ force: true });
});

test("a checkpoint of a newer Waypoint is shown, kept, and refused by whatever reads it", async () => {
  const session = await own.waypoint.new({ name: "newer", net: "none" });
  await session.exec("X=1; echo text >/root/file");
  const above = await session.checkpoint();
  await session.exec("echo more >>/root/file");
  const checkpoint = await session.checkpoint({ name: "of-a-newer-one" });
  const inStore = `--mount=${path.join(own.stateDir, "ns/mnt")}`;
  const manifest = path.join(own.stateDir, "store/checkpoints", checkpoint.id, "manifest.json");
  const edit = ["sed", "-i", 's/"format": *[0-9]*/"format": 99/', manifest];
  await stopDaemon();
  execFileSync("nsenter", [inStore, ...edit]);
  for (const ending of ["", "-wal", "-shm"]) {
    rmSync(path.join(own.stateDir, `catalog.sqlite${ending}`), { force: true });
  }

  const found = await own.waypoint.session("newer");

  expect(await own.waypoint.show("of-a-newer-one")).toMatchObject({
    id: checkpoint.id,
    processes: null,
  });
  const { waypoint } = own;
  const place = { moment: checkpoint, path: "/root/file" };
  const uses = {
    restore: () => found.restore(checkpoint.id),
    "restore --dry-run": () => found.planRestore(checkpoint.id),
    "restore --only files": () => found.restore(checkpoint.id, { only: "files" }),
    "restore --only processes": () => found.restore(checkpoint.id, { only: "processes" }),
    fork: () => waypoint.fork(checkpoint.id),
    cat: () => waypoint.cat(checkpoint, "/root/file").next(),
    cp: () => waypoint.cp(place, { path: own.stateDir }),
    diff: () => waypoint.diff(checkpoint, found),
    browse: () => waypoint.browse(checkpoint),
    grep: () => waypoint.grep("text", { checkpoints: [checkpoint] }).next(),
    merge: () => waypoint.merge(found, checkpoint),
    apply: () => waypoint.apply(checkpoint, { dryRun: true }),
  };
  const outcomes: Record<string, unknown> = {};
  for (const [name, use] of Object.entries(uses)) {
    outcomes[name] = await use().catch(({ code }: { code: string }) => code);
  }
  expect(outcomes).toEqual(Object.fromEntries(Object.keys(uses).map((name) => [name, TOO_NEW])));
  const [verified] = (await waypoint.verify([checkpoint], "true")).results;
  expect(verified).toMatchObject({ error: { code: TOO_NEW } });
  expect((await found.exec("echo $X")).stdout).toBe("1\n");

  // Neither are its words written again in an older one's.
  await expect(waypoint.removeCheckpoints([above])).rejects.toMatchObject({ code: TOO_NEW });
  expect((await waypoint.show(above)).id).toBe(above.id);
  await found.remove({ force: true });
});
