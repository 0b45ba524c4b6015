import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stateLayout } from "../../src/base/index.ts";
import type { Session } from "../../src/index.ts";
import { untilDurable } from "../support/checkpoint-space.ts";
import { runCommand } from "../support/command-line.ts";
import { runInDaemon } from "../support/run-in-daemon.ts";
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

test("after a loss of power no checkpoint shows the memory of the one that its images were made of", async () => {
  const session = await begin("followed");
  const first = await session.checkpoint({ durable: true });
  await session.exec("MARK=second; touch /srv/second");
  const second = await session.checkpoint();
  await untilDurable([second]);
  // What the disk has right after the snapshot of the images before: nothing that was written over it.
  const checkpoints = `${own.stateDir}/store/checkpoints`;
  const [from, to] = [`${checkpoints}/${first.id}`, `${checkpoints}/${second.id}`];
  await runInDaemon(
    own,
    `rm ${to}/images/* ${to}/images.sums; cp ${from}/images/* ${to}/images/; sync`,
  );
  await reboot();
  const catalog = new DatabaseSync(stateLayout(own.stateDir).catalogPath);
  const changed = `stage = 'captured', imagesSums = NULL WHERE id = '${second.id}'`;
  catalog.exec(`UPDATE checkpoints SET ${changed}`);
  catalog.close();

  await expect(second.fork()).rejects.toMatchObject({ code: "CHECKPOINT_INCOMPLETE" });

  const [fork] = await first.fork();
  expect((await fork?.exec("echo $MARK"))?.stdout).toBe("followed\n");
});
