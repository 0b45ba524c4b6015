import { readFileSync } from "node:fs";
import process from "node:process";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Session } from "../../src/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { untilDurable } from "../support/checkpoint-space.ts";
import { runInDaemon } from "../support/run-in-daemon.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const MEBIBYTE = 1024 ** 2;
/** `WAYPOINT_SOAK_CHECKPOINTS=1000` for a long one. */
const CHECKPOINTS = Number(process.env["WAYPOINT_SOAK_CHECKPOINTS"] ?? 60);
const TOLD_EACH = Math.ceil(CHECKPOINTS / 8);
const IMAGES_BUDGET_MIB = 512;
/** What durable checkpoints may keep of that budget (src/engine/checkpoint/memory-images.ts). */
const KEPT_MIB_MAX = 64;
/** A daemon that rests needs some 40 MiB of its own; before this was bounded it kept 200 and more. */
const RESTING_MIB_MAX = 80;
const TIMEOUT_MS = 120_000 + CHECKPOINTS * 5_000;

interface Memory {
  /** Memory of the daemon that is its own and not a file's. */
  daemonMib: number;
  imagesMib: number;
}

async function readMemory(own: TestWaypoint): Promise<Memory> {
  const { pid, imagesUsedBytes } = await callOperation(own.stateDir, "daemon.status", {});
  return { daemonMib: ownMib(pid), imagesMib: Math.round(imagesUsedBytes / MEBIBYTE) };
}

function ownMib(pid: number): number {
  const [, kibibytes] =
    /^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kibibytes) / 1024);
}

function tell(what: string, { daemonMib, imagesMib }: Memory): void {
  process.stdout.write(`${what}: daemon ${daemonMib} MiB, images ${imagesMib} MiB\n`);
}

/** What an agent does between two checkpoints. */
async function work(session: Session, step: number): Promise<void> {
  await session.exec(`cd /srv/project && head -c 3000 /dev/urandom | base64 > file${step % 50}`);
  await session.exec(`echo ${step} >> log; seq 1 200; git add -A; git commit -qm "step ${step}"`);
}

// Every program is followed, and every page of every dump compared with a second copy.
beforeAll(() => {
  vi.stubEnv("WAYPOINT_TRACK_MEMORY", "0");
  vi.stubEnv("WAYPOINT_COMPARE_MEMORY", "on");
});
afterAll(() => vi.unstubAllEnvs());

test(
  `the daemon and the images of ${CHECKPOINTS} checkpoints take no more memory at the end than in between`,
  async () => {
    await using own = await openTestWaypoint({ imagesBytes: IMAGES_BUDGET_MIB * MEBIBYTE });
    const session = await own.waypoint.new();
    const identity = "git config user.email a@example.org; git config user.name a";
    await session.exec(`mkdir -p /srv/project && cd /srv/project && git init -q && ${identity}`);
    await session.exec("python3 -c 'import time; held = bytearray(8 << 20); time.sleep(1e6)' &");
    const daemonPid = await own.daemonPid();
    const checkpoints = [];

    for (let step = 1; step <= CHECKPOINTS; step += 1) {
      await work(session, step);
      const checkpoint = await session.checkpoint({ intent: `step ${step}` });
      checkpoints.push(checkpoint);
      if (step % 10 === 0)
        for (const fork of await checkpoint.fork(2)) await fork.remove({ force: true });
      if (step % TOLD_EACH === 0) tell(`after ${step} checkpoints`, await readMemory(own));
    }
    await untilDurable(checkpoints);

    const { imagesMib } = await eventually(
      "the images of durable checkpoints being bounded",
      () => readMemory(own),
      (memory) => memory.imagesMib <= KEPT_MIB_MAX,
    );
    // Asking the daemon would be work for it.
    const daemonMib = await eventually(
      "the daemon's memory going back",
      () => ownMib(daemonPid),
      (mebibytes) => mebibytes <= RESTING_MIB_MAX,
      60_000,
    );
    tell("at rest", { daemonMib, imagesMib });
    expect(daemonMib).toBeLessThanOrEqual(RESTING_MIB_MAX);
  },
  TIMEOUT_MS,
);

test("images that nobody has used for a while leave memory, but where a session stands", async () => {
  await using own = await openTestWaypoint({ imagesBytes: IMAGES_BUDGET_MIB * MEBIBYTE });
  const session = await own.waypoint.new();
  const first = await session.checkpoint();
  await session.exec("touch /root/second");
  const second = await session.checkpoint();
  await untilDurable([first, second]);
  const list = async () => (await runInDaemon(own, `ls ${own.stateDir}/images`)).split("\n");
  expect(await list()).toEqual(expect.arrayContaining([first.id, second.id]));

  await runInDaemon(own, `touch -d '-5 minutes' ${own.stateDir}/images/*`);

  const kept = await eventually("the older one leaving", list, (ids) => !ids.includes(first.id));
  expect(kept.filter(Boolean)).toEqual([second.id]);
  const [fork] = await first.fork();
  expect((await fork?.exec("ls /root/second; echo $?"))?.stdout).toContain("2\n");
});

test("a machine that is short of memory gets that of all durable images back at once", async () => {
  await using own = await openTestWaypoint({ imagesBytes: IMAGES_BUDGET_MIB * MEBIBYTE });
  const session = await own.waypoint.new();
  const checkpoint = await session.checkpoint();
  await untilDurable([checkpoint]);
  const list = () => runInDaemon(own, `ls ${own.stateDir}/images`);
  expect(await list()).toContain(checkpoint.id);

  // What the daemon reads of the machine: less than a tenth is left to everything else.
  const meminfo = "MemTotal: 24000000 kB\\nMemAvailable: 2300000 kB\\n";
  const file = `${own.stateDir}/meminfo`;
  await runInDaemon(own, `printf '${meminfo}' >${file}; mount --bind ${file} /proc/meminfo`);

  await eventually("the images leaving memory", list, (ids) => ids === "");
  await runInDaemon(own, "umount /proc/meminfo");
  await session.restore(checkpoint);
  expect((await session.exec("echo $((6 * 7))")).stdout).toBe("42\n");
});
