import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stateLayout } from "../../src/base/index.ts";
import { openStream } from "../../src/surfaces/client/index.ts";
import { killDaemon } from "../support/crash-model.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** One that nobody has collected yet is still listed. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[XZ]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

test("whoever is attached to a session that is removed is told so", async () => {
  const session = await own.waypoint.new();
  const size = { columns: 80, rows: 24 };
  const attached = await openStream(own.stateDir, "attach", { session: session.name, ...size });
  let hasShown = (): void => {};
  const shown = new Promise<void>((resolve) => {
    hasShown = resolve;
  });
  const left = (async () => {
    for await (const event of attached) if (event.kind === "stdout") hasShown();
    return await attached.result;
  })();
  await shown;

  await session.remove({ force: true });

  expect(await left).toMatchObject({ reason: "removed" });
});

test("a daemon that was killed while it ended a session leaves it stopped, and nothing of it runs", async () => {
  const session = await own.waypoint.new();
  await session.exec("marker=captured; sleep 1000 &");
  const checkpoint = await session.checkpoint({ durable: true });
  const { pid } = await session.info();
  await killDaemon(await own.daemonPid());
  // As far as it had come: this is noted before the first process ends.
  const catalog = new DatabaseSync(stateLayout(own.stateDir).catalogPath);
  catalog
    .prepare("UPDATE instances SET endedFor = 'removed' WHERE session = ? AND pid IS NOT NULL")
    .run(session.id);
  catalog.close();

  const found = (await own.waypoint.sessions()).find(({ id }) => id === session.id);

  expect(found?.state).toBe("stopped");
  expect(isAlive(pid ?? 0)).toBe(false);
  const [fork] = await checkpoint.fork();
  expect((await fork?.exec("echo $marker"))?.stdout).toBe("captured\n");
  await session.remove({ force: true });
  expect((await own.waypoint.sessions()).map(({ id }) => id)).toEqual([fork?.id]);
});
