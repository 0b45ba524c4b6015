import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { at, checkpointOf } from "../../../test/support/saver-checkpoints.ts";
import { MemoryRecords } from "../../portable/records/index.ts";
import { Seal } from "./seal.ts";
import { WaypointSaver } from "./waypoint-saver.ts";

const META = { source: "loop", step: 0, parents: {} } as const;
const PLANTED = "planted-secret-0123456789";
const [KEY, OTHER_KEY] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];

let directory: string;
let count = 0;
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), "waypoint-safely-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

const newAddress = () => `sqlite:${path.join(directory, `${++count}.sqlite`)}`;

async function putOne(saver: WaypointSaver, value: unknown, thread = "t") {
  const checkpoint = checkpointOf({ a: value, long: `${JSON.stringify(value)} `.repeat(500) });
  const config = await saver.put(at(thread), checkpoint, { ...META, said: value } as never, {
    a: 1,
    long: 1,
  });
  await saver.putWrites(config, [["a", value]], "task");
  return config;
}

const valueAt = async (saver: WaypointSaver, thread = "t") =>
  (await saver.getTuple(at(thread)))?.checkpoint.channel_values["a"];

test("with a key nothing of values, metadata and writes is readable in the files", async () => {
  const address = newAddress();
  const found = () =>
    readdirSync(directory).some((name) =>
      readFileSync(path.join(directory, name)).includes(PLANTED),
    );
  {
    await using saver = await WaypointSaver.open(address, { encryption: { key: KEY } });
    await putOne(saver, PLANTED);
    await saver.nameCheckpoint((await saver.getTuple(at("t")))?.config ?? {}, PLANTED.slice(0, 5));
  }
  expect(found()).toBe(false);

  await using plain = await WaypointSaver.open(newAddress());
  await putOne(plain, PLANTED);
  expect(found()).toBe(true);
});

test("another key is told, an earlier one reads, and null admits what was kept without", async () => {
  const address = newAddress();
  const open = (encryption?: object) =>
    WaypointSaver.open(address, encryption === undefined ? {} : ({ encryption } as never));
  await putOne(await open(), "plain", "plain");
  await putOne(await open({ key: KEY }), "first", "first");

  const missing = expect.objectContaining({ code: "STORE_KEY_MISSING" });
  const only = await open({ key: OTHER_KEY });
  await expect(valueAt(only, "first")).rejects.toThrow(missing);
  await expect(valueAt(only, "plain")).rejects.toThrow(missing);
  await expect(valueAt(await open(), "first")).rejects.toThrow(missing);
  const both = await open({ key: OTHER_KEY, previousKeys: [KEY, null] });
  expect(await valueAt(both, "first")).toBe("first");
  expect(await valueAt(both, "plain")).toBe("plain");
  const end = await putOne(both, "second", "first");
  expect((await both.getTuple(end))?.checkpoint.channel_values["a"]).toBe("second");
  expect(
    () => new WaypointSaver(new MemoryRecords(), { encryption: { key: new Uint8Array(5) } }),
  ).toThrow(expect.objectContaining({ code: "USAGE_INVALID" }));
});

test.each([
  ["with a key", { encryption: { key: KEY } }],
  ["without", {}],
])("a changed or missing part of a value is told, not returned, %s", async (_, options) => {
  const records = new MemoryRecords();
  await using saver = new WaypointSaver(records, options);
  await putOne(saver, "value");
  const objects = await records.scan("t", { prefix: "o/", limit: 100 });
  expect(objects.length).toBeGreaterThan(0);

  const damaged = expect.objectContaining({ code: "STORE_FAILED" });
  const reader = () => new WaypointSaver(records, options).getTuple(at("t"));
  for (const { key, value } of objects) {
    const changed = Uint8Array.from(value);
    changed[changed.length - 3] = (changed.at(-3) ?? 0) ^ 1;
    await records.write("t", [{ key, value: changed }]);
    await expect(reader()).rejects.toThrow(damaged);
    await records.write("t", [{ key, value: null }]);
    await expect(reader()).rejects.toThrow(damaged);
    await records.write("t", [{ key, value }]);
  }
  expect(await valueAt(new WaypointSaver(records, options))).toBe("value");
});

test("an encrypted record of another thread is not taken for one's own", async () => {
  const records = new MemoryRecords();
  const saver = new WaypointSaver(records, { encryption: { key: KEY } });
  await putOne(saver, "theirs", "theirs");
  for (const { key, value } of await records.scan("theirs", { prefix: "", limit: 100 })) {
    await records.write("mine", [{ key, value }]);
  }

  await expect(saver.getTuple(at("mine"))).rejects.toThrow(
    expect.objectContaining({ code: "STORE_FAILED" }),
  );
});

test("a checkpoint in a newer form is refused, and the others are read", async () => {
  const records = new MemoryRecords();
  const saver = new WaypointSaver(records);
  const older = await putOne(saver, "older");
  const newer = checkpointOf({});
  const doc = {
    f: 99,
    id: newer.id,
    values: [],
    versions: [],
    seen: [],
    metadata: { t: "json", v: "{}" },
  };
  const key = `c//${newer.id}`;
  const value = new Seal().close(Buffer.from(JSON.stringify(doc)), `t\n${key}`);
  await records.write("t", [{ key, value }]);

  await expect(saver.getTuple(at("t"))).rejects.toThrow(
    expect.objectContaining({ code: "FORMAT_TOO_NEW" }),
  );
  expect((await saver.getTuple(older))?.checkpoint.channel_values["a"]).toBe("older");
});

test("a thread is gone when its time is over, and reading keeps it where that is asked for", async () => {
  const address = newAddress();
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const expiry = { seconds: 100 };
    await using saver = await WaypointSaver.open(address, { expiry });
    await using keeper = await WaypointSaver.open(address, {
      expiry: { ...expiry, refreshOnRead: true },
    });
    await putOne(saver, 1, "left");
    await putOne(saver, 2, "read");
    await putOne(saver, 3, "listed");
    vi.advanceTimersByTime(60_000);
    expect(await valueAt(keeper, "read")).toBe(2);
    vi.advanceTimersByTime(60_000);

    expect(await valueAt(saver, "left")).toBeUndefined();
    expect(await valueAt(saver, "read")).toBe(2);
    expect(await saver.removeExpired()).toBe(1);
    const threads: unknown[] = [];
    for await (const { config } of saver.list({ configurable: {} })) {
      threads.push(config.configurable?.["thread_id"]);
    }
    expect(threads).toEqual(["read"]);
    await putOne(saver, 4, "left");
    expect(await valueAt(saver, "left")).toBe(4);
  } finally {
    vi.useRealTimers();
  }
});

test("an address that names no store is refused with those that there are", async () => {
  await expect(WaypointSaver.open("mysql://host/db")).rejects.toThrow(
    expect.objectContaining({ code: "USAGE_INVALID", hint: expect.stringContaining("sqlite:") }),
  );
});
