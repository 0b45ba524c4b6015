import { randomInt } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stateLayout } from "../../src/base/index.ts";
import type { Checkpoint, Session } from "../../src/index.ts";
import { forgetMemoryImages, untilDurable } from "../support/checkpoint-space.ts";
import { type BitPlace, flipBits, listImages } from "../support/damage.ts";
import { listInstances, runInDaemon } from "../support/run-in-daemon.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Bits that are turned over in each kind of image; more on demand. */
const FLIPS_PER_KIND = Number(process.env["WAYPOINT_TEST_FLIPS"] ?? 1);
const DAMAGED = { code: "CHECKPOINT_INCOMPLETE" };

let own: TestWaypoint;
let session: Session;
let checkpoint: Checkpoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "kept" });
  await session.exec("MARK=kept; exec 7<>/root/open; sleep 1000 &");
  checkpoint = await session.checkpoint({ durable: true });
  await forgetMemoryImages(own, checkpoint);
}, 120_000);

afterAll(() => own?.[Symbol.asyncDispose]());

function somewhereIn({ path, sizeBytes }: { path: string; sizeBytes: number }): BitPlace {
  return { path, offset: randomInt(sizeBytes), bit: randomInt(8) };
}

/** Holds memory that no compression and no sharing makes smaller, and knows what is in it. */
async function holdMemory(holder: Session, mebibytes: number): Promise<void> {
  const program = `import os, time
held = os.urandom(${mebibytes} << 20)
known = hash(held)
open("/root/held", "w")
while not os.path.exists("/root/look"): time.sleep(0.01)
right = known == hash(bytes(held[:1]) + held[1:])
open("/root/found", "w").write("right" if right else "wrong")
time.sleep(1e6)`;
  await holder.exec(`cat >/root/hold.py <<'END'\n${program}\nEND`);
  await holder.exec("python3 /root/hold.py & until test -e /root/held; do sleep 0.05; done");
}

test("a bit turned over in any kind of image is found, named, and nothing is left", async () => {
  const images = await listImages(own, checkpoint);
  const kinds = Map.groupBy(images, ({ name }) => name.replace(/\d+/g, "N"));
  const before = await listInstances(own);

  for (const ofKind of kinds.values()) {
    for (let flip = 0; flip < FLIPS_PER_KIND; flip += 1) {
      const image = ofKind[randomInt(ofKind.length)] as (typeof images)[number];
      const place = somewhereIn(image);
      await flipBits(own, [place]);
      const found = await checkpoint.fork().then(
        () => "nothing",
        (error: { code: string; message: string }) => `${error.code} ${error.message}`,
      );
      await flipBits(own, [place]);
      const what = `${image.name} ${place.offset}.${place.bit}`;
      expect(`${what}: ${found}`).toContain("CHECKPOINT_INCOMPLETE");
      expect(`${what}: ${found}`).toContain(image.name);
    }
  }

  expect([...kinds.keys()]).toEqual(
    expect.arrayContaining(["pages-N.img", "core-N.img", "mm-N.img", "pagemap-N.img"]),
  );
  expect(await listInstances(own)).toEqual(before);
  const [fork] = await checkpoint.fork();
  expect((await fork?.exec("echo $MARK"))?.stdout).toBe("kept\n");
  await fork?.remove({ force: true });
}, 300_000);

test("a damaged checkpoint leaves the session that goes back to it as it was", async () => {
  const [image] = (await listImages(own, checkpoint)).filter(({ name }) => name === "seccomp.img");
  const [pages] = (await listImages(own, checkpoint)).filter(({ name }) => /^pages-/.test(name));
  const place = somewhereIn((image ?? pages) as { path: string; sizeBytes: number });
  await session.exec("MARK=later");
  await flipBits(own, [place]);

  await expect(session.restore(checkpoint)).rejects.toMatchObject(DAMAGED);

  expect((await session.exec("echo $MARK")).stdout).toBe("later\n");
  await flipBits(own, [place]);
  await session.restore(checkpoint);
  expect((await session.exec("echo $MARK")).stdout).toBe("kept\n");
});

test("one whose processes cannot be read is shown all the same", async () => {
  const [pstree] = (await listImages(own, checkpoint)).filter(({ name }) => name === "pstree.img");
  // The first byte tells what kind of image it is.
  const place = { path: (pstree as { path: string }).path, offset: 0, bit: 3 };
  await flipBits(own, [place]);

  expect(await checkpoint.show()).toMatchObject({ id: checkpoint.id, processes: null });

  await flipBits(own, [place]);
  expect((await checkpoint.show()).processes).toContainEqual({ pid: 1, command: "init" });
});

test("sums that were changed or are gone are refused, too", async () => {
  const path = `${own.stateDir}/store/checkpoints/${checkpoint.id}/images.sums`;
  const place = { path, offset: 40, bit: 0 };

  await flipBits(own, [place]);
  await expect(checkpoint.fork()).rejects.toMatchObject({
    ...DAMAGED,
    message: expect.stringContaining("images.sums"),
  });
  await flipBits(own, [place]);
  await runInDaemon(own, `mv ${path} ${path}.away`);
  await expect(checkpoint.fork()).rejects.toMatchObject(DAMAGED);
  await runInDaemon(own, `mv ${path}.away ${path}`);

  const [fork] = await checkpoint.fork();
  await fork?.remove({ force: true });
});

test("images in memory, and those that a checkpoint shares with its parent, are compared", async () => {
  await session.exec("touch /root/new");
  const first = await session.checkpoint({ durable: true });
  const second = await session.checkpoint({ durable: true });
  const images = await listImages(own, first);
  const pages = images.filter(({ name }) => name.startsWith("pages-"));
  expect(images.some(({ path }) => path.includes("/images/"))).toBe(true);

  await flipBits(own, pages.map(somewhereIn));

  await expect(first.fork()).rejects.toMatchObject(DAMAGED);
  if (second.info.unchangedSince === first.id) {
    // In memory they are the same files, in the store each has its own.
    const inTheStore = (await listImages(own, second)).filter(({ path }) =>
      path.includes("/store/"),
    );
    const its = inTheStore.filter(({ name }) => name.startsWith("pages-"));
    await flipBits(own, its.map(somewhereIn));
    await expect(second.fork()).rejects.toMatchObject(DAMAGED);
  }
});

test("images written to the store directly have sums", async () => {
  await using small = await openTestWaypoint({ imagesBytes: 4 * 1024 ** 2 });
  const its = await small.waypoint.new();
  await its.exec("MARK=kept");
  const direct = await its.checkpoint();
  await untilDurable([direct]);
  const images = await listImages(small, direct);
  expect(images.every(({ path }) => path.includes("/store/"))).toBe(true);
  const [pages] = images.filter(({ name }) => name.startsWith("pages-"));

  await flipBits(small, [somewhereIn(pages as { path: string; sizeBytes: number })]);

  await expect(direct.fork()).rejects.toMatchObject(DAMAGED);
});

/** Asks the program whether its memory is what it was; a code when the session has ended. */
async function lookAtMemory(holder: Session | undefined): Promise<string | undefined> {
  const line = "touch /root/look; until test -s /root/found; do sleep 0.05; done; cat /root/found";
  return await holder?.exec(line).then(
    ({ stdout }) => stdout,
    (error: { code: string }) => error.code,
  );
}

test("a lazy restore never computes with a wrong page", async () => {
  const large = await own.waypoint.new({ name: "large" });
  await large.exec("MARK=captured");
  await holdMemory(large, 256);
  const held = await large.checkpoint({ durable: true });
  await forgetMemoryImages(own, held);
  await large.exec("MARK=later");
  const images = await listImages(own, held);
  const [pages] = images.toSorted((a, b) => b.sizeBytes - a.sizeBytes);
  const { path } = pages as (typeof images)[number];
  // What lies here comes last, when the session has answered already.
  const place = { path, offset: 24 * 1024 ** 2 + randomInt(4096), bit: randomInt(8) };
  await flipBits(own, [place]);

  // It is found before the answer, or behind it: then a fork ends, and a session goes back.
  const found = await held.fork().then(
    async ([fork]) => {
      const looked = await lookAtMemory(fork);
      await fork?.remove({ force: true });
      return looked;
    },
    (error: { code: string }) => error.code,
  );
  expect(["CHECKPOINT_INCOMPLETE", "SESSION_ENDED"]).toContain(found);
  await large.restore(held).catch(() => {});
  const mark = await eventually(
    "the session as it was",
    () => large.exec("echo $MARK").then(({ stdout }) => stdout, String),
    (stdout) => stdout === "later\n",
    60_000,
  );
  expect(mark).toBe("later\n");
  expect(await lookAtMemory(large)).toBe("right");

  await flipBits(own, [place]);
  const [right] = await held.fork();
  expect(await lookAtMemory(right)).toBe("right");
}, 180_000);

const HOW = { "that were copied": 0, "that were put together": 2 };
test.each(Object.entries(HOW))(
  "what was not written is not taken from damaged images %s",
  async (_how, before) => {
    const followed = await own.waypoint.new();
    await holdMemory(followed, 64);
    for (let taken = 0; taken < before; taken += 1) await durableInStore(followed);
    const damaged = await durableInStore(followed);
    const images = (await listImages(own, damaged)).toSorted((a, b) => b.sizeBytes - a.sizeBytes);
    await flipBits(own, images.slice(0, 1).map(somewhereIn));

    const whole = await followed.checkpoint();
    const next = await followed.checkpoint();

    expect(whole.info.pauseBytes).toBeGreaterThan(64 * 1024 ** 2);
    expect(next.info.pauseBytes).toBeLessThan(16 * 1024 ** 2);
    for (const each of [whole, next]) {
      const [fork] = await each.fork();
      expect(await lookAtMemory(fork)).toBe("right");
      await fork?.remove({ force: true });
    }
    await followed.remove({ force: true });
  },
  180_000,
);

async function durableInStore(followed: Session): Promise<Checkpoint> {
  await followed.exec("touch /root/changed");
  const taken = await followed.checkpoint({ durable: true });
  await forgetMemoryImages(own, taken);
  return taken;
}

test("on the host's network nothing ends for a damaged checkpoint", async () => {
  const hosted = await own.waypoint.new({ name: "hosted", net: "host" });
  const taken = await hosted.checkpoint({ durable: true });
  await hosted.exec("MARK=later");
  const images = await listImages(own, taken);
  await flipBits(own, images.filter(({ name }) => name.startsWith("mm-")).map(somewhereIn));
  const before = await listInstances(own);

  await expect(hosted.restore(taken)).rejects.toMatchObject(DAMAGED);

  expect(await listInstances(own)).toEqual(before);
  expect((await hosted.exec("echo $MARK")).stdout).toBe("later\n");
});

/** Makes a checkpoint one of a Waypoint that knew no sums. */
async function takeSumsAway({ id }: Checkpoint): Promise<void> {
  const catalog = new DatabaseSync(stateLayout(own.stateDir).catalogPath);
  catalog.exec(`UPDATE checkpoints SET imagesSums = NULL WHERE id = '${id}'`);
  catalog.close();
  await runInDaemon(own, `rm ${own.stateDir}/store/checkpoints/${id}/images.sums`);
}

test("without sums, as of an older Waypoint, a checkpoint is restored as before", async () => {
  const old = await session.checkpoint({ durable: true });
  await takeSumsAway(old);

  const [fork] = await old.fork();

  expect((await fork?.exec("echo $((6 * 7))"))?.stdout).toBe("42\n");
});

test("a restore that hangs is ended, and nobody waits behind it", async () => {
  await session.exec("touch /root/newer");
  const old = await session.checkpoint({ durable: true });
  await takeSumsAway(old);
  await forgetMemoryImages(own, old);
  const before = await listInstances(own);
  // No code of a filter: the kernel refuses the filter, and CRIU 4 waits for ever then.
  const [image] = (await listImages(own, old)).filter(({ name }) => name === "seccomp.img");
  const first = await runInDaemon(
    own,
    `grep -obUaP '\\x20\\0\\0\\0\\x04\\0' ${image?.path} | head -1`,
  );
  const place = { path: image?.path ?? "", offset: Number(first.split(":")[0]), bit: 7 };
  await flipBits(own, [place]);

  const hanging = old.fork(1, { name: "hanging" }).catch((error: { code: string }) => error.code);
  await eventually(
    "CRIU with the filter refused",
    () => runInDaemon(own, "cat /run/waypoint/work/*/restore.log 2>/dev/null || true"),
    (log) => log.includes("SECCOMP_SET_MODE_FILTER returned"),
  );
  await expect(old.fork(1, { name: "hanging" })).rejects.toMatchObject({ code: "NAME_IN_USE" });
  await flipBits(own, [place]);
  const [behind] = await old.fork();
  expect((await behind?.exec("echo $((6 * 7))"))?.stdout).toBe("42\n");
  await behind?.remove({ force: true });

  expect(await hanging).toBe("DEADLINE_EXCEEDED");
  expect(await listInstances(own)).toEqual(before);
}, 120_000);
