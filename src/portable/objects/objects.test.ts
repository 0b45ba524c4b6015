import { expect, test } from "vitest";
import {
  appendItems,
  type JsonValue,
  MemoryObjects,
  objectsOf,
  readValue,
  storeValue,
} from "./index.ts";

/** Numbers that are the same in each run: xorshift. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

function randomText(random: (below: number) => number, chars: number): string {
  let text = "";
  while (text.length < chars) text += random(2 ** 31).toString(36);
  return text.slice(0, chars);
}

const CHARACTERS = ["a", '"', "\n", "\\", "é", "漢", "😀", "\ud800", "\0"];

function randomValue(random: (below: number) => number, depth = 0): JsonValue {
  const kind = random(depth > 3 ? 5 : 8);
  if (kind === 0) return null;
  if (kind === 1) return random(2) === 0;
  if (kind === 2) return random(1e6) / 8 - 5e4;
  if (kind === 3) return randomText(random, random(30) === 0 ? random(90_000) : random(300));
  if (kind === 4) return Array.from({ length: random(60) }, () => CHARACTERS[random(9)]).join("");
  const length = random(10) === 0 ? random(200) : random(6);
  const values = Array.from({ length }, () => randomValue(random, depth + 1));
  if (kind < 7) return values;
  const keys = ["__proto__", "constructor", "", "1", "role"];
  return JSON.parse(
    `{${values.map((value, at) => `${JSON.stringify(keys[at] ?? `k${at}`)}:${JSON.stringify(value)}`).join(",")}}`,
  );
}

test("random values come back as they were, and equal ones are the same objects", () => {
  const random = randomNumbers(7);
  const objects = new MemoryObjects();
  for (let round = 0; round < 60; round += 1) {
    const value = randomValue(random);
    const stored = storeValue(objects, value);

    expect(JSON.stringify(readValue(objects, stored))).toBe(JSON.stringify(value));
    const before = objects.totals;
    expect(storeValue(objects, JSON.parse(JSON.stringify(value)))).toBe(stored);
    expect(objects.totals).toEqual(before);
  }
});

test("a list that was appended to, piece by piece, is the list kept at once", () => {
  const random = randomNumbers(11);
  for (let round = 0; round < 15; round += 1) {
    const objects = new MemoryObjects();
    const all: JsonValue[] = [];
    let stored = storeValue(objects, []);
    for (let step = 0; step < 12; step += 1) {
      const items = Array.from({ length: random(40) }, () => randomValue(random, 3));
      all.push(...items);
      stored = appendItems(objects, stored, items);
      expect(stored).toBe(storeValue(objects, all));
    }
    expect(readValue(objects, stored)).toEqual(all);
  }
});

test("1,000 checkpoints of a conversation that grows to 10 MB cost less than 1.5 times that", () => {
  const random = randomNumbers(3);
  const objects = new MemoryObjects();
  const message = () => ({ role: "user", content: randomText(random, 10_000) });
  let stored = storeValue(objects, []);
  const versions: string[] = [];
  for (let at = 0; at < 1000; at += 1) {
    stored = appendItems(objects, stored, [message()]);
    versions.push(stored);
  }

  const whole = JSON.stringify(readValue(objects, stored)).length;
  expect(whole).toBeGreaterThan(10_000_000);
  expect(objects.totals.bytes).toBeLessThan(1.3 * whole);
  expect(readValue(objects, versions[499] ?? "")).toHaveLength(500);
});

test("what is inserted into a long text costs the parts around it", () => {
  const objects = new MemoryObjects();
  const text = randomText(randomNumbers(5), 1_000_000);
  storeValue(objects, text);
  const { bytes } = objects.totals;
  storeValue(objects, `${text.slice(0, 300_000)}, by the way,${text.slice(300_000)}`);

  expect(objects.totals.bytes - bytes).toBeLessThan(80_000);
});

test("the objects that a value needs are those without which it cannot be read", () => {
  const random = randomNumbers(13);
  const objects = new MemoryObjects();
  const list = Array.from({ length: 300 }, () => ({ text: randomText(random, random(40_000)) }));
  const stored = storeValue(objects, list);
  const needed = objectsOf(objects, stored);

  const copy = new MemoryObjects();
  for (const id of needed) copy.put(objects.get(id) ?? new Uint8Array());
  expect(readValue(copy, stored)).toEqual(list);
  expect(copy.totals).toEqual(objects.totals);
  const [first] = needed;
  const damaged = {
    put: copy.put.bind(copy),
    get: (id: string) => (id === first ? undefined : copy.get(id)),
  };
  expect(() => readValue(damaged, stored)).toThrow(
    expect.objectContaining({ code: "STORE_FAILED" }),
  );
});

test("what is no value of JSON is refused, and so is an endless one", () => {
  const objects = new MemoryObjects();
  const refused = expect.objectContaining({ code: "USAGE_INVALID" });
  const endless: JsonValue[] = [];
  endless.push(endless);

  for (const value of [undefined, Number.NaN, () => 1, endless, { a: [1n] }]) {
    expect(() => storeValue(objects, value as JsonValue)).toThrow(refused);
  }
  expect(() => appendItems(objects, storeValue(objects, "text"), [1])).toThrow(refused);
});
