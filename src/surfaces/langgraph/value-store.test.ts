import { expect, test } from "vitest";
import { SafeSerializer } from "./safe-serializer.ts";
import { Seal } from "./seal.ts";
import { ValueStore } from "./value-store.ts";

const storeOf = () => new ValueStore(new SafeSerializer(), new Seal());
const textOf = (seed: number, chars: number) =>
  Array.from({ length: chars / 8 }, (_, at) => String((at * 7919 + seed) % 1e7).padStart(8)).join(
    "",
  );

test("a value becomes the same objects, whatever was encoded before it", async () => {
  const store = storeOf();
  const list = Array.from({ length: 60 }, (_, at) => ({ role: "user", content: textOf(at, 800) }));
  const grown = [...list, { role: "user", content: textOf(60, 4000) }];
  await store.encode(list);

  const after = await store.encode(grown);

  expect(after).toEqual(await storeOf().encode(grown));
});

test("a text is kept once, in whatever values it stands", async () => {
  const store = storeOf();
  const [one, two] = [textOf(1, 40_000), textOf(2, 1600)];
  const alone = await store.encode([one]);
  const both = await store.encode({ messages: [two, one], last: one });

  const shared = [...both.objects.keys()].filter((id) => alone.objects.has(id));
  const sharedBytes = shared.reduce((sum, id) => sum + (both.objects.get(id)?.length ?? 0), 0);

  expect(sharedBytes).toBe(one.length);
});

test("bytes that somebody changes later stay what they were", async () => {
  const store = storeOf();
  const bytes = new Uint8Array(8000).fill(1);
  const before = await store.encode(bytes);
  bytes.fill(2);

  const after = await store.encode(bytes);

  expect(after.stored).not.toEqual(before.stored);
  for (const content of before.objects.values())
    expect(content.every((each) => each === 1)).toBe(true);
});
