import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { WireMessage } from "../../formats/criu-images/index.ts";
import { findPairs, findRightsSenders, placeSenders } from "./rights-in-flight.ts";

/** An entry of files.img: a connected unix socket whose inode is its id. */
function socket(id: number, peer: number): WireMessage {
  return new Map<number, (bigint | Buffer)[]>([
    [2, [BigInt(id)]],
    [16, [Buffer.from([8, id, 16, id, 64, peer])]],
  ]);
}

const PAIR = [socket(1, 2), socket(2, 1)];
const open = (pid: number, id: number) => ({ pid, id, descriptor: id });

test("messages are sent from the first process that has the other end", () => {
  const messages = [
    { receiver: 1, rights: [9] },
    { receiver: 1, rights: [8] },
  ];

  expect(findPairs({ files: PAIR, open: [open(5, 1), open(9, 2), open(7, 2)], messages })).toEqual([
    { receiver: 1, sender: 2, senderPid: 7, isShared: false, isCrossed: false, messageCount: 2 },
  ]);
  expect(findPairs({ files: PAIR, open: [open(7, 1), open(7, 2)], messages })).toMatchObject([
    { senderPid: 7, isShared: true },
  ]);
});

test("a pair with messages in both directions is crossed; one that nobody has is left out", () => {
  const messages = [
    { receiver: 1, rights: [9] },
    { receiver: 2, rights: [9] },
  ];

  const pairs = findPairs({ files: PAIR, open: [open(5, 1), open(7, 2)], messages });

  expect(pairs.map(({ isCrossed }) => isCrossed)).toEqual([true, true]);
  expect(findPairs({ files: PAIR, open: [], messages })).toEqual([]);
});

test("a socket that is connected to one that is not connected to it is no pair", () => {
  const files = [socket(1, 0), socket(2, 1)];

  expect(
    findPairs({ files, open: [open(5, 2)], messages: [{ receiver: 1, rights: [9] }] }),
  ).toEqual([]);
});

test("images without messages are left as they are", async () => {
  const imagesDir = await mkdtemp(join(tmpdir(), "waypoint-rights-"));
  try {
    await placeSenders(imagesDir);
    expect(await findRightsSenders(imagesDir)).toEqual([]);
    await writeFile(join(imagesDir, "sk-queues.img"), "not an image");
    await expect(findRightsSenders(imagesDir)).rejects.toThrow("this is not a CRIU skQueues image");
  } finally {
    await rm(imagesDir, { recursive: true });
  }
});
