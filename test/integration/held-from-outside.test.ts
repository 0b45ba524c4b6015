import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { expectedHoldings, holdingsOf } from "../support/holdings.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

// What holds a session from outside, or holds itself, keeps nobody from getting out.

/** Version 1 of control groups, as `docker pause` uses it on machines that have it. */
const FREEZER_DIR = "/sys/fs/cgroup/freezer";

let own: TestWaypoint;
let session: Session;
let pid: number;

beforeEach(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web" });
  await session.exec("echo kept > /root/file");
  pid = (await session.info()).pid as number;
});

afterEach(async () => {
  await own?.[Symbol.asyncDispose]();
}, 60_000);

async function expectNothingLeft(): Promise<void> {
  const daemonPid = await own.daemonPid();
  await eventually(
    "nothing of a session",
    () => [holdingsOf(own.stateDir, daemonPid), expectedHoldings(own.stateDir)] as const,
    ([found, expected]) => JSON.stringify({ ...found, ...expected }) === JSON.stringify(found),
    60_000,
  );
}

test("a session that version 1 of control groups has frozen is named, and can be removed", async () => {
  const group = path.join(FREEZER_DIR, `waypoint-test-${process.pid}`);
  mkdirSync(group);
  try {
    writeFileSync(path.join(group, "cgroup.procs"), String(pid));
    writeFileSync(path.join(group, "freezer.state"), "FROZEN");

    await expect(session.exec("true")).rejects.toMatchObject({
      code: "SESSION_UNRESPONSIVE",
      message: "The session's first process is frozen by its control group.",
    });
    await session.remove({ force: true });

    expect(await own.waypoint.sessions()).toEqual([]);
    expect(existsSync(`/proc/${pid}/root`)).toBe(false);
  } finally {
    writeFileSync(path.join(group, "freezer.state"), "THAWED");
    await eventually(
      "an empty group",
      () => readFileSync(path.join(group, "cgroup.procs"), "utf8"),
      (pids) => pids === "",
    );
    rmdirSync(group);
  }
  await expectNothingLeft();
});

test("a file that somebody outside has open keeps no session from ending, nor its daemon", async () => {
  const held = openSync(`/proc/${pid}/root/root/file`, "r");
  try {
    await session.stop();
    const other = await own.waypoint.new({ name: "other" });
    const otherPid = (await other.info()).pid as number;
    const heldToo = openSync(`/proc/${otherPid}/root/etc/passwd`, "r");
    try {
      await other.remove({ force: true });
      expect((await own.waypoint.sessions()).map(({ name }) => name)).toEqual(["web"]);

      const stopped = await runCommand(own.stateDir, ["daemon", "stop", "--sessions"]);

      expect(stopped).toMatchObject({ exitCode: 0 });
    } finally {
      closeSync(heldToo);
    }
  } finally {
    closeSync(held);
  }
  await session.remove({ force: true });
  await expectNothingLeft();
});

test("processes that trace each other, and one that is stopped, end with their session", async () => {
  // Each attaches to the other's main thread from a thread of its own.
  const trace = `
import ctypes, os, threading, time
libc = ctypes.CDLL(None)
parent = os.getpid()
to_parent, to_child = os.pipe(), os.pipe()
child = os.fork()
other = parent if child == 0 else child
mine, theirs = (to_child, to_parent) if child == 0 else (to_parent, to_child)
def attach():
    # Neither stops the other before that one is ready, too.
    os.write(theirs[1], b"x")
    os.read(mine[0], 1)
    libc.ptrace(16, other, 0, 0)
    time.sleep(999)
threading.Thread(target=attach).start()
time.sleep(999)
`;
  await session.exec(`cat > /root/trace.py <<'END'\n${trace}END`);
  await session.exec("setsid python3 /root/trace.py &", {
    shell: "own",
  });
  await session.exec("setsid sh -c 'kill -STOP $$' &", { shell: "own" });
  const pids = await eventually(
    "processes that trace and are traced",
    async () => (await session.ps()).map((each) => each.hostPid),
    (found) => found.filter((each) => tracerOf(each) !== 0).length === 2,
  );

  await session.remove({ force: true });

  expect(pids.filter((each) => existsSync(`/proc/${each}/root`))).toEqual([]);
  await expectNothingLeft();
});

function tracerOf(hostPid: number): number {
  try {
    const status = readFileSync(`/proc/${hostPid}/status`, "utf8");
    return Number(/^TracerPid:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  } catch {
    return 0; // It has ended.
  }
}
