import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { WaypointSaver } from "../../src/surfaces/langgraph/index.ts";
import { at, checkpointOf, META } from "../support/saver-checkpoints.ts";

const DISK = "size=1536k";
const STEPS_MAX = 1000;

test("a full disk refuses a put, loses nothing before it, and takes it once there is room", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "waypoint-full-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", DISK, "waypoint-full", directory]);
  try {
    const address = `sqlite:${path.join(directory, "graph.sqlite")}`;
    await using saver = await WaypointSaver.open(address);
    let config: object = at("t");
    let [step, failure]: [number, unknown] = [0, null];
    const put = async (parent: object) => {
      const text = Array.from({ length: 500 }, () => Math.random().toString(36)).join();
      const next = checkpointOf({ step, text }, { step: step + 1, text: step + 1 });
      await saver.putWrites(parent, [["step", step]], "task").catch(() => {});
      return await saver.put(parent, next, META, { step: step + 1, text: step + 1 });
    };
    config = await put(at("t", "none-yet"));
    for (; step < STEPS_MAX && failure === null; step += failure === null ? 1 : 0) {
      config = await put(config).catch((error: unknown) => {
        failure = error;
        return config;
      });
    }

    expect(failure).toMatchObject({ code: "STORE_FULL" });
    await expectWhole(saver, config);
    // As a user would: somebody else makes room, and the graph goes on.
    execFileSync("mount", ["-o", "remount,size=16m", directory]);
    config = await put(config);
    await expectWhole(saver, config);
    await using other = await WaypointSaver.open(address);
    await expectWhole(other, config);
  } finally {
    execFileSync("umount", [directory]);
    rmSync(directory, { recursive: true });
  }
});

/** The newest is the one that was answered last, and all of them can be read. */
async function expectWhole(saver: WaypointSaver, newest: object): Promise<void> {
  let count = 0;
  for await (const { config, checkpoint } of saver.list(at("t"))) {
    if (count === 0) expect(config).toEqual(newest);
    expect(checkpoint.channel_values).toMatchObject({ text: expect.any(String) });
    count += 1;
  }
  expect(count).toBeGreaterThan(10);
}
