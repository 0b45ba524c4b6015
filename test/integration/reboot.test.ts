import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

async function begin(name: string): Promise<Session> {
  const session = await own.waypoint.new({ name, cwd: "/srv" });
  await session.exec(`export MARK=${name}; sleep 1000 & echo then > file`);
  return session;
}

/** What a reboot leaves: no process of the daemon or of a session, none of their mounts, the disk. */
async function reboot(): Promise<void> {
  const pids = (await own.waypoint.sessions()).flatMap(({ pid }) => (pid === null ? [] : [pid]));
  for (const pid of [await own.daemonPid(), ...pids]) process.kill(pid, "SIGKILL");
  const alive = async () => pids.filter((pid) => existsSync(`/proc/${pid}`));
  await eventually("the end of all sessions", alive, (left) => left.length === 0);
  const namespace = path.join(own.stateDir, "ns");
  for (const mounted of [path.join(namespace, "mnt"), namespace]) {
    execFileSync("umount", [mounted]);
  }
}

test("after a reboot sessions have ended, and start from durable checkpoints or from their files", async () => {
  const web = await begin("web");
  const { id } = await web.checkpoint();
  await eventually(
    "a durable checkpoint",
    async () => (await own.waypoint.show(id)).stage,
    (stage) => stage === "durable",
  );
  await web.exec("echo later > file; export MARK=later");
  const bare = await begin("bare");
  await bare.exec("sync");

  await reboot();

  const states = (await own.waypoint.sessions()).map(({ name, state }) => `${name}: ${state}`);
  expect(states.toSorted()).toEqual(["bare: ended", "web: ended"]);
  const told = await runCommand(own.stateDir, ["start", "web"]);
  expect(told).toMatchObject({ exitCode: 0, stderr: "" });
  expect((await web.exec("echo $MARK; cat /srv/file; jobs")).stdout).toMatch(
    /^web\nthen\n\[1\]\+ +Running +sleep 1000 &\n$/,
  );
  // What was there when the machine went down is an undo away.
  await web.undo();
  expect((await web.exec("cat /srv/file")).stdout).toBe("later\n");

  expect(await bare.start()).toMatchObject({ hasProcesses: false });
  expect((await bare.exec("cat /srv/file; echo [$MARK]")).stdout).toBe("then\n[]\n");
});
