import { AIMessage } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { SafeSerializer } from "./safe-serializer.ts";

const serializer = new SafeSerializer();
const LONG = "täxt ".repeat(400);
const HALF = `${"x".repeat(2000)}\ud800`;

test.each([
  ["at the top", LONG],
  ["in a list, twice", [LONG, "short", LONG, { deep: [LONG] }]],
  ["that is no UTF-8, beside one that is", { half: HALF, whole: LONG }],
  ["long bytes", { bytes: new Uint8Array(5000).fill(7) }],
  ["as the key of a map", new Map([[LONG, 1]])],
  ["in an error", [new Error(LONG)]],
  ["in a record that looks like ours", { lc: 2, type: "text", n: 0, more: LONG }],
  ["whose key is __proto__", JSON.parse(`{"__proto__":["${"y".repeat(2000)}"],"z":1}`)],
])("a long text comes back: %s", async (_, value) => {
  const [type, bytes] = await serializer.dumpsTyped(value);

  expect(type).toBe(value === HALF ? "json" : "texts");
  expect(await serializer.loadsTyped(type, bytes)).toEqual(value);
});

test("a message keeps its long content", async () => {
  const message = new AIMessage({ content: LONG, id: "1" });

  const found = await serializer.loadsTyped(...(await serializer.dumpsTyped([message])));

  expect(found).toEqual([message]);
});

test("texts stand in front, as they are", async () => {
  const [, bytes] = await serializer.dumpsTyped({ first: LONG, second: "z".repeat(1024) });

  expect(
    Buffer.from(bytes)
      .toString()
      .startsWith(`${LONG}${"z".repeat(1024)}{`),
  ).toBe(true);
});

/** A value of one text of four bytes, whose JSON and table are as given. */
function forged(json: string, lengths: readonly number[]): Buffer {
  const table = Buffer.alloc(lengths.length * 4);
  for (const [index, length] of lengths.entries()) table.writeUInt32LE(length, index * 4);
  return Buffer.concat([Buffer.from(`text${json}`), table]);
}

const MARK = '{"lc":2,"type":"text","n":0}';

test.each([
  ["nothing", Buffer.alloc(0)],
  ["less than a length", Buffer.of(1, 2, 3)],
  ["more texts than there are bytes", forged(MARK, [4, MARK.length, 2 ** 32 - 1])],
  ["a text that is longer than all", forged(MARK, [400, MARK.length, 1])],
  ["a text that is too short", forged(MARK, [3, MARK.length, 1])],
  ["a text that is not there", forged('{"lc":2,"type":"text","n":1}', [4, 28, 1])],
  ["a text by a name", forged('{"lc":2,"type":"text","n":"0"}', [4, 30, 1])],
  ["a text that is named twice", forged(`[${MARK},${MARK}]`, [4, 2 * MARK.length + 3, 1])],
  ["no JSON", forged("{", [4, 1, 1])],
])("damage is found: %s", async (_, bytes) => {
  await expect(serializer.loadsTyped("texts", bytes)).rejects.toThrow();
});

test("what the damaged ones are made of is read", async () => {
  expect(await serializer.loadsTyped("texts", forged(MARK, [4, MARK.length, 1]))).toBe("text");
});
