import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { failureOf } from "../support/failing-command.ts";
import { PidsGroup } from "../support/pids-group.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { readWholeState } from "../support/whole-state.ts";

/** More than any operation starts at a time. */
const ROOM_MAX = 40;

let own: TestWaypoint;
let group: PidsGroup;
let kept: Session;
let good: Checkpoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  kept = await own.waypoint.new({ name: "kept" });
  await kept.exec("sleep 1000 & cd /usr; MARK=kept");
  good = await kept.checkpoint({ name: "good", durable: true });
  group = new PidsGroup(await own.daemonPid());
});

afterAll(async () => {
  group?.leaveAllRoom();
  await group?.remove();
  await own?.[Symbol.asyncDispose]();
});

async function isUnharmed(session: Session): Promise<void> {
  const { stdout } = await session.exec("echo $PWD $MARK; jobs");
  expect(stdout).toMatch(/^\/usr kept\n.*sleep 1000/);
}

/** Waits until nothing is done in the background that was asked for before. */
async function settle(): Promise<void> {
  await eventually(
    "all checkpoints to be durable, and old instances to be gone",
    async () => {
      const { checkpoints } = await own.waypoint.log();
      const { instances, sessions } = await readWholeState(own);
      return { stages: checkpoints.map(({ stage }) => stage), instances, sessions };
    },
    ({ stages, instances, sessions }) =>
      stages.every((stage) => stage === "durable") && instances.length === sessions.length,
  );
}

/** What a failure must not change; what a restore captured first is kept. */
async function readState([operation]: readonly string[]): Promise<string> {
  const { checkpoints, images, timeline, ...rest } = await readWholeState(own);
  return JSON.stringify(operation === "restore" ? rest : [checkpoints, images, timeline, rest]);
}

test.each([
  ["new", ["new", "x"]],
  ["checkpoint", ["checkpoint", "kept"]],
  ["restore", ["restore", "kept", "good"]],
  ["fork", ["fork", "good", "--name", "f"]],
])(
  "%s: says that no process can be started, at every step, and leaves nothing",
  async (_, args) => {
    await settle();
    await group.waitUntilStill();
    const before = await readState(args);
    const daemonPid = await own.daemonPid();
    const refusals: string[] = [];

    for (let room = -2; room < ROOM_MAX; room += 1) {
      group.leaveRoom(room);
      const failure = await failureOf(own, args).catch(() => null);
      group.leaveAllRoom();
      if (failure === null) break;
      refusals.push(failure.error.code);
      expect(failure.error.message).toBe("No further process can be started on this machine.");
      expect(failure.error.hint).toMatch(/^End some processes, or raise the limit/);
      await eventually(
        `all to be as before, after ${room}`,
        () => readState(args),
        (now) => now === before,
      );
      await isUnharmed(kept);
    }

    expect(new Set(refusals)).toEqual(new Set(["PROCESSES_FULL"]));
    expect(refusals.length).toBeLessThan(ROOM_MAX);
    expect(await own.daemonPid()).toBe(daemonPid);
    await isUnharmed(kept);
    const others = (await own.waypoint.sessions()).filter(({ id }) => id !== kept.id);
    for (const { id } of others) await (await own.waypoint.session(id)).remove({ force: true });
  },
);

test("exec needs no process of the daemon's, and an old checkpoint is as good as ever", async () => {
  group.leaveRoom(0);
  await isUnharmed(kept);
  group.leaveAllRoom();

  const [fork] = (await good.fork(1)) as [Session];
  await isUnharmed(fork);
  await fork.remove({ force: true });
});
