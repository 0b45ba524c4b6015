import { afterAll, beforeAll, expect, test } from "vitest";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});
afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

test("a session cannot put another session's init in the place of its own", async () => {
  const victim = await own.waypoint.new({ name: "victim" });
  const attacker = await own.waypoint.new({ name: "attacker" });
  const { pid: victimPid } = await victim.info();
  // The path is followed from the daemon's root, where the victim's init can be reached. In one step:
  // init makes a socket that is gone again.
  const { exitCode } = await attacker.exec(
    `cd /run/waypoint && ln -s /proc/${victimPid}/root/run/waypoint/init.sock link && mv -T link init.sock`,
  );
  expect(exitCode).toBe(0);
  await callOperation(own.stateDir, "daemon.stop", {});

  const outcome = attacker.exec("hostname");

  await expect(outcome).rejects.toMatchObject({
    code: "SESSION_UNRESPONSIVE",
    message: expect.stringContaining("first process"),
  });
  const filesOnly = await attacker.checkpoint({ filesOnly: true });
  expect(filesOnly.info.content).toBe("files");
  expect((await victim.exec("hostname")).stdout).toBe("victim\n");
  await victim.remove({ force: true });
  await attacker.remove({ force: true });
});
