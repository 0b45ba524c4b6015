import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { failureOf } from "../support/failing-command.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const MEBIBYTE = 1024 ** 2;
const STORE_BYTES = 1024 * MEBIBYTE;
const FILL = "cd /srv; dd if=/dev/urandom of=fill bs=1M status=none 2>&1; sync; stat -c %s fill";

let own: TestWaypoint;
let greedy: Session;
let other: Session;
let good: Checkpoint;

beforeAll(async () => {
  own = await openTestWaypoint({ storeBytes: STORE_BYTES });
  greedy = await own.waypoint.new({ name: "greedy", diskBytes: 100 * MEBIBYTE });
  other = await own.waypoint.new({ name: "other", diskBytes: 150 * MEBIBYTE });
  await greedy.exec("export MARK=kept; echo durable > /srv/file");
  good = await greedy.checkpoint({ name: "good", durable: true });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

async function diskOf(session: Session) {
  const sessions = await own.waypoint.sessions();
  const found = sessions.find(({ id }) => id === session.id);
  if (found === undefined || found.disk === null) throw new Error("nothing is counted");
  return found.disk;
}

test("a session that has used up its share writes no more, and the others go on", async () => {
  const { stdout } = await greedy.exec(FILL, { shell: "own" });

  expect(stdout).toContain("Disk quota exceeded");
  const written = Number(stdout.trim().split("\n").at(-1));
  expect(written).toBeGreaterThan(60 * MEBIBYTE);
  expect(written).toBeLessThan(100 * MEBIBYTE);
  await other.exec("head -c 50M /dev/urandom > /srv/large && sync");
  await other.checkpoint({ durable: true });
  const third = await own.waypoint.new({ name: "third" });
  expect((await diskOf(third)).shareBytes).toBe(STORE_BYTES / 2);
  await third.remove({ force: true });
  expect(await diskOf(greedy)).toMatchObject({ shareBytes: 100 * MEBIBYTE });
});

test("with its share used up nothing new begins in it, but it can go back", async () => {
  const { error, exitCode } = await failureOf(own, ["checkpoint", "greedy"]);
  expect({ code: error.code, exitCode }).toEqual({ code: "STORE_FULL", exitCode: 20 });
  expect(error.message).toContain("its share of the store");
  expect(error.hint).toContain("waypoint rm CHECKPOINT");

  const { undo } = await greedy.restore(good);

  // Its files are few again, but the checkpoint that was taken first has the others.
  expect((await failureOf(own, ["exec", "greedy", "--", "true"])).error).toMatchObject({
    code: "STORE_FULL",
    hint: expect.stringContaining("waypoint rm CHECKPOINT"),
  });
  const { stdout } = await greedy.exec("echo $MARK; ls /srv", { shell: "own" });
  expect(stdout).toBe("\nfile\n");
  expect((await greedy.undo()).checkpoint).toBe(undo);
  expect((await greedy.exec("ls /srv", { shell: "own" })).stdout).toBe("file\nfill\n");
  await greedy.restore(good, { withoutUndo: true });
});

test("what only checkpoints hold still counts; what nothing holds is given back", async () => {
  const before = await diskOf(greedy);
  const hold = await own.waypoint.new({ name: "hold", diskBytes: 200 * MEBIBYTE });
  await hold.exec("head -c 40M /dev/urandom > /srv/large; sync");
  await hold.checkpoint({ durable: true });
  await hold.exec("rm /srv/large; sync");
  expect((await diskOf(hold)).usedBytes).toBeGreaterThan(40 * MEBIBYTE);
  await hold.exec("head -c 40M /dev/urandom > /srv/scrap; sync; rm /srv/scrap; sync");
  await eventually(
    "the space of what was removed",
    async () => (await diskOf(hold)).usedBytes,
    (usedBytes) => usedBytes < 75 * MEBIBYTE,
  );
  expect(Math.abs((await diskOf(greedy)).usedBytes - before.usedBytes)).toBeLessThan(MEBIBYTE);
  await hold.remove({ force: true });
});

test("a fork has a share of its own, of the same size", async () => {
  const [fork] = await good.fork(1, { name: "fork" });
  if (fork === undefined) throw new Error("no fork");

  const { stdout } = await fork.exec(FILL, { shell: "own" });

  expect(Number(stdout.trim().split("\n").at(-1))).toBeGreaterThan(60 * MEBIBYTE);
  expect((await diskOf(fork)).shareBytes).toBe(100 * MEBIBYTE);
  await fork.remove({ force: true });
});

test("a share holds after the daemon's death", async () => {
  const pid = await own.daemonPid();
  process.kill(pid, "SIGKILL");
  await eventually(
    "the daemon's end",
    () => existsSync(`/proc/${pid}`),
    (exists) => !exists,
  );
  const { stdout } = await other.exec(FILL, { shell: "own" });

  expect(stdout).toContain("Disk quota exceeded");
  expect(Number(stdout.trim().split("\n").at(-1))).toBeLessThan(150 * MEBIBYTE);
  await other.exec("rm /srv/fill", { shell: "own" });
});

test("a share that is too small for a session is refused", async () => {
  const { error } = await failureOf(own, ["new", "--disk", "1M"]);
  expect(error.code).toBe("USAGE_INVALID");
});
