import { expect, test } from "vitest";
import { stateLayout } from "../../src/base/index.ts";
import type { Session } from "../../src/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { forgetMemoryImages, untilDurable } from "../support/checkpoint-space.ts";
import { startCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { runInDaemon } from "../support/run-in-daemon.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const MEBIBYTE = 1024 ** 2;

async function imagesInMemory(own: TestWaypoint): Promise<string[]> {
  const listed = await runInDaemon(own, `ls ${stateLayout(own.stateDir).imagesDir}`);
  return listed.split("\n").filter(Boolean);
}

/** Lets a program of a session hold memory of its own. */
async function holdMemory(session: Session, mebibytes: number): Promise<void> {
  const program = `import os,time; held = os.urandom(${mebibytes} << 20); open("/tmp/held","w"); time.sleep(1e6)`;
  await session.exec(`python3 -c '${program}' & until test -e /tmp/held; do sleep 0.05; done`);
}

test("images are in memory first, and in memory with large pages where the machine has them", async () => {
  await using own = await openTestWaypoint({ imagesBytes: 256 * MEBIBYTE });
  const session = await own.waypoint.new();

  const checkpoint = await session.checkpoint();

  expect(checkpoint.info.stage).toBe("captured");
  expect(await imagesInMemory(own)).toEqual([checkpoint.id]);
  const mount = await runInDaemon(own, `grep ' ${own.stateDir}/images ' /proc/self/mountinfo`);
  expect(mount).toContain(`size=${256 * 1024}k`);
  expect(mount).toContain("huge=within_size");
  await untilDurable([checkpoint]);
});

test("what has no room within the budget goes to the store, without an error", async () => {
  await using own = await openTestWaypoint({ imagesBytes: 32 * MEBIBYTE });
  const session = await own.waypoint.new();
  const small = await session.checkpoint();
  await holdMemory(session, 48);

  const large = await session.checkpoint({ durable: true });

  expect(large.info.stage).toBe("durable");
  expect(await imagesInMemory(own)).toEqual([small.id]);
  const [fork] = await large.fork();
  expect((await fork?.exec("pgrep -c python3", { shell: "own" }))?.stdout).toBe("1\n");
});

test("on a machine that is short of memory images go to the store, and come back to memory later", async () => {
  await using own = await openTestWaypoint({ imagesBytes: 256 * MEBIBYTE });
  const session = await own.waypoint.new();
  // What the daemon reads of the machine: a tenth is left to everything else.
  const meminfo = "MemTotal: 24000000 kB\\nMemAvailable: 2401000 kB\\n";
  await runInDaemon(
    own,
    `printf '${meminfo}' >${own.stateDir}/meminfo; mount --bind ${own.stateDir}/meminfo /proc/meminfo`,
  );

  const pressed = await session.checkpoint({ durable: true });
  await runInDaemon(own, "umount /proc/meminfo");
  await session.exec("touch /root/later");
  const later = await session.checkpoint();

  expect(await imagesInMemory(own)).toEqual([later.id]);
  const [fork] = await pressed.fork();
  expect((await fork?.exec("echo $((6 * 7))"))?.stdout).toBe("42\n");
});

test("the budget is an option of the daemon, and of one that takes over", async () => {
  await using own = await openTestWaypoint({ imagesBytes: 64 * MEBIBYTE });
  const status = () => callOperation(own.stateDir, "daemon.status", {});
  expect((await status()).imagesBudgetBytes).toBe(64 * MEBIBYTE);
  await callOperation(own.stateDir, "daemon.stop", {});

  const daemon = startCommand(own.stateDir, ["daemon", "--images-memory", "96M"]);

  // Not started by the question, as every other operation would.
  const ask = () => callOperation(own.stateDir, "daemon.status", {}, { start: false });
  const { imagesBudgetBytes } = await eventually(
    "the daemon's answer",
    () => ask().catch(() => ({ pid: null, imagesBudgetBytes: 0 })),
    ({ pid }) => pid === daemon.pid,
  );
  expect(imagesBudgetBytes).toBe(96 * MEBIBYTE);
});

test("a dump that fills memory half-way goes to the store, and the session notices nothing", async () => {
  await using own = await openTestWaypoint({ imagesBytes: 48 * MEBIBYTE });
  const session = await own.waypoint.new();
  // The content of a deleted file goes into the images, and counts to nobody's memory before.
  await session.exec("exec 9<>/tmp/deleted; head -c 64M /dev/urandom >&9; rm /tmp/deleted");
  await session.exec("MARK=kept; sleep 1000 & echo $! > /tmp/sleeper");
  const digest = (await session.exec("md5sum < /dev/fd/9")).stdout;

  const checkpoint = await session.checkpoint();

  expect(await imagesInMemory(own)).toEqual([]);
  expect((await session.exec("echo $MARK; kill -0 $(cat /tmp/sleeper) && echo runs")).stdout).toBe(
    "kept\nruns\n",
  );
  await untilDurable([checkpoint]);
  await session.restore(checkpoint);
  expect((await session.exec("md5sum < /dev/fd/9; echo $MARK")).stdout).toBe(`${digest}kept\n`);
});

test("checkpoints that come faster than the disk go to the store behind their pause, and each is right", async () => {
  await using own = await openTestWaypoint({ imagesBytes: 160 * MEBIBYTE });
  const session = await own.waypoint.new();
  await holdMemory(session, 96);
  const checkpoints = [];
  for (const mark of ["one", "two", "three", "four"]) {
    await session.exec(`MARK=${mark}`);
    checkpoints.push({ mark, checkpoint: await session.checkpoint() });
  }

  for (const { mark, checkpoint } of checkpoints.slice(1)) {
    expect(checkpoint.info.pauseBytes, mark).toBeLessThan(24 * MEBIBYTE);
  }
  await untilDurable(checkpoints.map(({ checkpoint }) => checkpoint));
  for (const { mark, checkpoint } of checkpoints) {
    await session.restore(checkpoint);
    expect((await session.exec("echo $MARK; pgrep -c python3")).stdout).toBe(`${mark}\n1\n`);
  }
});

test("a copy to the store that a killed daemon had begun is finished by the next one", async () => {
  await using own = await openTestWaypoint();
  const session = await own.waypoint.new();
  await session.exec("MARK=kept");
  await holdMemory(session, 256);
  const daemonPid = await own.daemonPid();
  const checkpointDir = (id: string) => `${own.stateDir}/store/checkpoints/${id}`;

  const checkpoint = await session.checkpoint();
  const { id } = checkpoint;
  await eventually(
    "a copy under way",
    () => runInDaemon(own, `ls ${checkpointDir(id)}`),
    (names) => names.includes("images.new"),
  );
  await killDaemon(daemonPid);

  expect(await runInDaemon(own, `ls ${checkpointDir(id)}`)).toMatch(/images\.new/);
  await untilDurable([checkpoint]);
  const names = (await runInDaemon(own, `ls ${checkpointDir(id)}`)).split("\n").filter(Boolean);
  // The story is told when there is time.
  expect(names.filter((name) => name !== "story.json")).toEqual([
    ...["fs", "images", "images.sums", "manifest.json"],
  ]);
  await forgetMemoryImages(own, checkpoint);
  await session.restore(checkpoint);
  expect((await session.exec("echo $MARK; pgrep -c python3")).stdout).toBe("kept\n1\n");
});
