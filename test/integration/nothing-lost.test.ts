import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callOperation, openStream } from "../../src/surfaces/client/index.ts";
import { cutImagesShort } from "../support/run-in-daemon.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});
afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

describe("a restore", () => {
  test("that fails leaves the session standing where it stood", async () => {
    const session = await own.waypoint.new({});
    const broken = await session.checkpoint({ durable: true });
    // Else both would share their images.
    await session.exec("X=1");
    const newest = await session.checkpoint({ durable: true });
    await session.exec("X=2; echo kept > /root/file");
    const { pid } = await session.info();
    await cutImagesShort(own, broken);

    await expect(session.restore(broken)).rejects.toMatchObject({ name: "WaypointError" });

    expect(await session.info()).toMatchObject({ state: "running", pid, head: newest.id });
    expect((await session.exec("echo $X; cat /root/file")).stdout).toBe("2\nkept\n");
    expect((await own.waypoint.show(`${session.name}@`)).id).toBe(newest.id);
    await session.remove({ force: true });
  });

  test("without undo captures nothing first", async () => {
    const session = await own.waypoint.new({});
    await session.exec("X=1");
    const { id } = await session.checkpoint();
    await session.exec("X=2");

    const restored = await callOperation(own.stateDir, "restore", {
      session: session.id,
      checkpoint: id,
      withoutUndo: true,
    });

    expect(restored).toMatchObject({ undo: null, undoContent: null });
    expect((await session.exec("echo $X")).stdout).toBe("1\n");
    expect((await session.log()).checkpoints).toHaveLength(1);
    await session.remove({ force: true });
  });
});

describe("a client that leaves before its answer", () => {
  test.each(["new", "fork"] as const)("gets no session from %s", async (operation) => {
    const session = await own.waypoint.new({ name: `origin-${operation}` });
    const { id } = await session.checkpoint();
    const before = (await own.waypoint.sessions()).length;
    const input = operation === "new" ? { name: "late" } : { checkpoint: id, count: 3 };

    const stream = await openStream(own.stateDir, operation, input as never);
    stream.close();
    await own.waypoint.sessions();

    // Nothing tells when the daemon is through with it; a later operation of the same kind does.
    const [later] = await own.waypoint.fork(id, { name: `later-${operation}` });
    await later?.remove({ force: true });
    await eventually(
      "the sessions that nobody waits for to be gone",
      async () => (await own.waypoint.sessions()).length,
      (count) => count === before,
    );
    await session.remove({ force: true });
  });
});

test("checkpoints of removed sessions go with the last session that descends from them", async () => {
  const origin = await own.waypoint.new({ name: "origin" });
  const checkpoint = await origin.checkpoint({ name: "shared" });
  const [fork] = await checkpoint.fork(1, { name: "descendant" });

  await origin.remove({ force: true });
  expect((await own.waypoint.show("shared")).id).toBe(checkpoint.id);

  await fork?.remove({ force: true });
  await expect(own.waypoint.show("shared")).rejects.toMatchObject({
    code: "CHECKPOINT_NOT_FOUND",
  });
});

test("a user without a home starts in the root directory", async () => {
  const session = await own.waypoint.new({ user: "nobody" });

  expect((await session.exec("id -un; pwd")).stdout).toBe("nobody\n/\n");
  await session.remove({ force: true });
});

test("a command that ends the live shell says so", async () => {
  const session = await own.waypoint.new({});

  expect(await session.exec("exit 3")).toMatchObject({ exitCode: 3, shellEnded: true });
  expect(await session.exec("true")).toMatchObject({ exitCode: 0, shellEnded: false });
  await session.remove({ force: true });
});
