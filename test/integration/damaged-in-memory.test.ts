import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stateLayout } from "../../src/base/index.ts";
import type { Checkpoint } from "../../src/index.ts";
import { type BitPlace, flipBits, listImages } from "../support/damage.ts";
import { listInstances } from "../support/run-in-daemon.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(() => own?.[Symbol.asyncDispose]());

/** Damages one image of a checkpoint where it lies in memory, and returns how to do the same elsewhere. */
async function damageInMemory(taken: Checkpoint, kind: RegExp): Promise<BitPlace> {
  const images = await listImages(own, taken);
  const directory = `${own.stateDir}/images/${taken.id}/`;
  const [inMemory] = images.filter(
    ({ path, name }) => path.startsWith(directory) && kind.test(name),
  );
  const place = {
    path: inMemory?.path ?? "",
    offset: randomInt(inMemory?.sizeBytes ?? 1),
    bit: randomInt(8),
  };
  await flipBits(own, [place]);
  return place;
}

function inStore(taken: Checkpoint, { path, ...place }: BitPlace): BitPlace {
  const name = path.split("/").at(-1);
  return { ...place, path: `${own.stateDir}/store/checkpoints/${taken.id}/images/${name}` };
}

test.each([
  ["a small one", {}, /^core-/],
  ["pages", {}, /^pages-/],
  ["one on the host's network", { net: "host" } as const, /^mm-/],
])(
  "images that are damaged in memory alone are dropped for those in the store: %s",
  async (_, options, kind) => {
    const whose = await own.waypoint.new(options);
    await whose.exec("MARK=good");
    const taken = await whose.checkpoint({ durable: true });
    await whose.exec("MARK=later; touch /root/new");

    const place = await damageInMemory(taken, kind);
    await whose.restore(taken);

    expect((await whose.exec("echo $MARK")).stdout).toBe("good\n");
    const left = await listImages(own, taken);
    expect(left.filter(({ path }) => path === place.path)).toEqual([]);
    const log = readFileSync(stateLayout(own.stateDir).logPath, "utf8").split("\n");
    const told = log.filter((line) => line.includes("images in memory are damaged"));
    expect(told.at(-1)).toContain(`"id":"${taken.id}"`);
    await flipBits(own, [inStore(taken, place)]);
    await expect(whose.restore(taken)).rejects.toMatchObject({ code: "CHECKPOINT_INCOMPLETE" });
    await whose.remove({ force: true });
  },
);

test("images that are damaged in memory and in the store are refused, and nothing is left", async () => {
  const session = await own.waypoint.new();
  const taken = await session.checkpoint({ durable: true });
  const before = await listInstances(own);
  const place = await damageInMemory(taken, /^core-/);
  await flipBits(own, [inStore(taken, place)]);

  await expect(taken.fork()).rejects.toMatchObject({ code: "CHECKPOINT_INCOMPLETE" });

  expect(await listInstances(own)).toEqual(before);
});
