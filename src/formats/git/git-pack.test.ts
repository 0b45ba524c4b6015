import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { deflateSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { GitPack, ReadRoom } from "./git-pack.ts";

const MEBIBYTE = 1024 ** 2;
const SHA1_BYTES = 20;
const NAMES_AT = 8 + 256 * 4;
const [BLOB, OFFSET_DELTA] = [3, 6];

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-pack-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** Opens a pack whose index promises `count` objects and has the last of them at an offset. */
async function openPack(pack: Buffer, { count, lastId, offset }: Last): Promise<GitPack> {
  const [indexPath, packPath] = ["idx", "pack"].map((name) => path.join(directory, name)) as [
    string,
    string,
  ];
  const head = Buffer.from("\xfftOc\0\0\0\x02", "latin1");
  const fanout = Buffer.alloc(256 * 4);
  for (let bucket = lastId[0] as number; bucket < 256; bucket += 1) {
    fanout.writeUInt32BE(count, bucket * 4);
  }
  writeFileSync(indexPath, Buffer.concat([head, fanout]));
  truncateSync(indexPath, NAMES_AT + count * (SHA1_BYTES + 8));
  await using index = await open(indexPath, "r+");
  const offsetBytes = Buffer.alloc(4);
  offsetBytes.writeUInt32BE(offset);
  await index.write(lastId, 0, SHA1_BYTES, NAMES_AT + (count - 1) * SHA1_BYTES);
  await index.write(offsetBytes, 0, 4, NAMES_AT + count * (SHA1_BYTES + 8) - 4);
  writeFileSync(packPath, pack);
  return await GitPack.open(await open(indexPath), await open(packPath), SHA1_BYTES);
}

interface Last {
  count: number;
  lastId: Buffer;
  offset: number;
}

/** An entry of a pack; `back` is how far before it what it differs from begins. */
function entry(type: number, content: Buffer, back: number | null): Buffer {
  const sizes = varint(Math.floor(content.length / 16));
  const first = Buffer.from([(type << 4) | (content.length & 15) | 0x80]);
  const base = back === null ? [] : backBytes(back);
  return Buffer.concat([first, sizes, Buffer.from(base), deflateSync(content)]);
}

function backBytes(back: number): number[] {
  return back < 128 ? [back] : [((back >> 7) - 1) | 0x80, back & 0x7f];
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    bytes.push(left > 127 ? (left % 128) | 0x80 : left);
    if (left <= 127) return Buffer.from(bytes);
  }
}

/** A difference that copies `count` bytes and puts a text behind them. */
function difference(baseBytes: number, count: number, text: string): Buffer {
  return Buffer.concat([
    ...[varint(baseBytes), varint(count + text.length)],
    Buffer.from([0xf0, count & 0xff, (count >> 8) & 0xff, count >> 16, text.length]),
    Buffer.from(text),
  ]);
}

/** A pack of a large text and a chain of differences that each put `x` in its last place. */
function chain(sizeBytes: number, differences: number): { pack: Buffer; lastAt: number } {
  const parts = [entry(BLOB, Buffer.alloc(sizeBytes, "a"), null)];
  let lastAt = 0;
  let endsAt = parts[0]?.length as number;
  for (let made = 0; made < differences; made += 1) {
    const delta = difference(sizeBytes, sizeBytes - 1, "x");
    const part = entry(OFFSET_DELTA, delta, endsAt - lastAt);
    parts.push(part);
    [lastAt, endsAt] = [endsAt, endsAt + part.length];
  }
  return { pack: Buffer.concat(parts), lastAt };
}

const LAST_ID = Buffer.alloc(SHA1_BYTES, 0xee);

test("an object made of differences is what they make", async () => {
  const { pack, lastAt } = chain(MEBIBYTE, 20);
  await using opened = await openPack(pack, { count: 3, lastId: LAST_ID, offset: lastAt });

  expect(await opened.find(LAST_ID)).toBe(lastAt);
  const { type, content } = await opened.read(lastAt, new ReadRoom(4 * MEBIBYTE), async () => null);

  expect(type).toBe("blob");
  expect(content.length).toBe(MEBIBYTE);
  expect(content.subarray(-2).toString()).toBe("ax");
});

test("differences that add up to more than any commit are refused", async () => {
  const { pack, lastAt } = chain(MEBIBYTE, 100);
  await using opened = await openPack(pack, { count: 3, lastId: LAST_ID, offset: lastAt });

  await expect(opened.read(lastAt, new ReadRoom(4 * MEBIBYTE), async () => null)).rejects.toThrow(
    "an object is made of too many differences",
  );
});

test("an object is found in an index that fits into no buffer", async () => {
  const count = 250_000_000; // 5 GB of names, nearly all of them a hole
  await using opened = await openPack(Buffer.alloc(0), { count, lastId: LAST_ID, offset: 7 });

  expect(await opened.find(LAST_ID)).toBe(7);
  expect(await opened.find(Buffer.alloc(SHA1_BYTES, 0xed))).toBeNull();
});
