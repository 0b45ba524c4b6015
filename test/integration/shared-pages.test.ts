import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import {
  dataBytes,
  destroyImages,
  forgetMemoryImages,
  imagesBytes,
  untilDurable,
} from "../support/checkpoint-space.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const MEBIBYTE = 1024 ** 2;
const HELD_BYTES = 64 * MEBIBYTE;
/** Holds memory; writes a few pages and its count at each line of input, and shows a digest. */
const HOLDER = `
import hashlib, os, sys
held = bytearray(os.urandom(${HELD_BYTES}))
count = 0
open("/tmp/ready", "w").write("0")
for line in open("/tmp/steps"):
    count += 1
    for page in range(8):
        held[page * 1000 * 4096 + count] ^= 255
    digest = hashlib.md5(held).hexdigest()
    open("/tmp/state.new", "w").write(f"{count} {digest}")
    os.rename("/tmp/state.new", "/tmp/state")
`;

async function startHolder(session: Session): Promise<void> {
  await session.exec(["sh", "-c", "cat > /tmp/holder.py"], { shell: "own", input: HOLDER });
  await session.exec("mkfifo /tmp/steps; python3 /tmp/holder.py & exec 7>/tmp/steps");
}

/** Lets the holder take a step and returns its count and the digest of its memory. */
async function step(session: Session): Promise<string> {
  const before = (await session.exec("cat /tmp/state", { shell: "own" })).stdout;
  await session.exec("echo >&7");
  return await eventually(
    "a step",
    async () => (await session.exec("cat /tmp/state", { shell: "own" })).stdout,
    (state) => state !== before && state !== "",
  );
}

/** The digest after one more step tells whether every page of a restored holder is right. */
async function digestAfterStep(checkpoint: Checkpoint): Promise<string> {
  const [fork] = await checkpoint.fork();
  if (fork === undefined) throw new Error("no fork");
  const state = await step(fork);
  await fork.remove({ force: true });
  return state;
}

let own: TestWaypoint;
let session: Session;
const checkpoints: Checkpoint[] = [];
/** What a fork of the nth checkpoint must come to at its next step. */
const expected: string[] = [];

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "holder" });
  await startHolder(session);
  await step(session);
  for (let index = 0; index < 5; index += 1) {
    checkpoints.push(await session.checkpoint());
    expected.push(await step(session));
  }
  await untilDurable(checkpoints);
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

test("five checkpoints of a large process take little more space than one", async () => {
  const [first] = checkpoints;
  expect(first?.info.memoryBytes).toBeGreaterThan(HELD_BYTES);

  expect(await imagesBytes(own)).toBeLessThan((first?.info.memoryBytes ?? 0) * 1.3);
});

test("each of them is whole without memory and without its parent", async () => {
  for (const [index, checkpoint] of checkpoints.entries()) {
    await forgetMemoryImages(own, checkpoint);
    expect(await digestAfterStep(checkpoint)).toBe(expected[index]);
    await destroyImages(own, checkpoint);
  }
});

test("images that were written to the store directly give up what another has, an ancestor or a sibling", async () => {
  await using small = await openTestWaypoint({ imagesBytes: 8 * MEBIBYTE });
  const held = await small.waypoint.new({ name: "small" });
  await startHolder(held);
  await step(held);
  const first = await held.checkpoint({ durable: true });
  const second = await held.checkpoint({ durable: true });
  const expectedState = await step(held);
  await held.checkpoint({ filesOnly: true });
  const third = await held.checkpoint({ durable: true });

  expect(await imagesBytes(small)).toBeLessThan(first.info.memoryBytes * 1.3);

  await held.restore(first);
  await destroyImages(small, first);
  const before = await imagesBytes(small);
  const sibling = await held.checkpoint({ durable: true });
  expect(sibling.info.parent).toBe(first.id);
  expect((await imagesBytes(small)) - before).toBeLessThan(first.info.memoryBytes * 0.3);

  expect(await digestAfterStep(second)).toBe(expectedState);
  await destroyImages(small, second);
  expect(await digestAfterStep(third)).toMatch(/^3 /);
  await destroyImages(small, third);
  expect(await digestAfterStep(sibling)).toBe(expectedState);
});

test("what they give up is free again, though other pages beside it have changed", async () => {
  await using small = await openTestWaypoint({ imagesBytes: 8 * MEBIBYTE });
  const held = await small.waypoint.new({ name: "small" });
  await startHolder(held);
  await step(held);
  const first = await held.checkpoint({ durable: true });
  const before = await dataBytes(small);

  for (let count = 0; count < 3; count += 1) {
    await step(held);
    await held.checkpoint({ durable: true });
  }

  expect((await dataBytes(small)) - before).toBeLessThan(first.info.memoryBytes * 0.3);
});
