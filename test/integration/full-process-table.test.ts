import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isSystemError } from "../../src/base/index.ts";
import type { Checkpoint, Session } from "../../src/index.ts";
import { cgroupMounts } from "../../src/limits/index.ts";
import { failureOf } from "../support/failing-command.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { readWholeState } from "../support/whole-state.ts";

/** More than any operation starts at a time. */
const ROOM_MAX = 40;

/** A group around the daemon, in which the kernel counts processes as it does on a full machine. */
class DaemonGroup {
  readonly #directory: string;
  readonly #parent: string;

  constructor(daemonPid: number) {
    const { directories } = cgroupMounts(readFileSync("/proc/self/mountinfo", "utf8"), "pids");
    this.#parent = directories.pids ?? "";
    this.#directory = path.join(this.#parent, `waypoint-test-table-${process.pid}`);
    mkdirSync(this.#directory);
    this.#write("cgroup.procs", daemonPid);
  }

  /** Lets so many more processes and threads be started. */
  leaveRoom(room: number): void {
    this.#write("pids.max", Number(this.#read("pids.current")) + room);
  }

  leaveAllRoom(): void {
    this.#write("pids.max", "max");
  }

  /** What lives in it goes on outside of it; the daemon may start something meanwhile. */
  async remove(): Promise<void> {
    await eventually(
      "an empty group",
      () => {
        this.#moveAll();
        return this.#isRemoved();
      },
      (isRemoved) => isRemoved,
    );
  }

  #moveAll(): void {
    for (const pid of this.#read("cgroup.procs").split("\n").filter(Boolean)) {
      if (existsSync(`/proc/${pid}`)) {
        writeFileSync(path.join(this.#parent, "cgroup.procs"), pid);
      }
    }
  }

  #isRemoved(): boolean {
    try {
      rmdirSync(this.#directory);
      return true;
    } catch (error) {
      if (isSystemError(error, "EBUSY")) return false;
      throw error;
    }
  }

  #read(file: string): string {
    return readFileSync(path.join(this.#directory, file), "utf8");
  }

  #write(file: string, value: number | string): void {
    writeFileSync(path.join(this.#directory, file), String(value));
  }
}

let own: TestWaypoint;
let group: DaemonGroup;
let kept: Session;
let good: Checkpoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  kept = await own.waypoint.new({ name: "kept" });
  await kept.exec("sleep 1000 & cd /usr; MARK=kept");
  good = await kept.checkpoint({ name: "good", durable: true });
  group = new DaemonGroup(await own.daemonPid());
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
    "all checkpoints to be durable, and old incarnations to be gone",
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
    const before = await readState(args);
    const daemonPid = await own.daemonPid();
    const refusals: string[] = [];

    for (let room = 0; room < ROOM_MAX; room += 1) {
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
