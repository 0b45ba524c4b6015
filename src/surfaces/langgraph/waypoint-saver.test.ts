import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { forkBefore } from "../../../test/support/forked-graphs.ts";
import { at, checkpointOf, META } from "../../../test/support/saver-checkpoints.ts";
import { describeSaver } from "../../../test/support/saver-conformance.ts";
import { WaypointSaver } from "./waypoint-saver.ts";

const directory = mkdtempSync(path.join(tmpdir(), "waypoint-saver-"));
afterAll(() => rmSync(directory, { recursive: true }));

const MANY = 10_000;

describeSaver(
  "memory",
  async () => ({ saver: await WaypointSaver.open("memory:"), again: null }),
  MANY,
);

let count = 0;
describeSaver(
  "SQLite",
  async () => {
    const address = `sqlite:${path.join(directory, `${++count}.sqlite`)}`;
    const open = () => WaypointSaver.open(address);
    return { saver: await open(), again: open };
  },
  MANY,
);

const encryption = { key: new Uint8Array(32).fill(3) };
describeSaver(
  "memory, encrypted",
  async () => ({ saver: await WaypointSaver.open("memory:", { encryption }), again: null }),
  100,
);

test("a copy to a thread that is there is refused, and leaves it alone", async () => {
  await using saver = await WaypointSaver.open("memory:");
  for (const thread of ["one", "two"])
    await saver.put(at(thread), checkpointOf({ thread }), META, { thread: 1 });

  await expect(saver.copyThread("one", "two")).rejects.toThrow(
    expect.objectContaining({ code: "THREAD_EXISTS" }),
  );
  expect((await saver.getTuple(at("two")))?.checkpoint.channel_values).toEqual({ thread: "two" });
});

test("a channel that is kept as its writes reads the same after a pruning", async () => {
  await using saver = await WaypointSaver.open("memory:");
  const { forks } = await forkBefore(saver, ["F1", "F2"], { isDelta: true });
  const { checkpoints } = await saver.prune({ keepLast: 1 });
  const newest = await saver.getTuple(at("forked"));
  const history = await saver.getDeltaChannelHistory({
    config: newest?.config ?? {},
    channels: ["log"],
  });

  expect(checkpoints).toBeGreaterThan(0);
  expect(history["log"]?.writes.flatMap(([, , value]) => value)).toEqual(forks[1]?.ended);
});
