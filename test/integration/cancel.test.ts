import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isSystemError } from "../../src/base/index.ts";
import type { Checkpoint, Session } from "../../src/index.ts";
import type { RunningCriu } from "../../src/linux/criu/index.ts";
import type { OperationInput, OperationName } from "../../src/shared/protocol/index.ts";
import { openStream } from "../../src/surfaces/client/index.ts";
import { finished, runCommand, startCommand } from "../support/command-line.ts";
import { stopInCriu } from "../support/running-dump.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Enough memory that a dump and a restore of it can be seen. */
const HOLD_MEMORY =
  "python3 -c 'import time; x = bytearray(b\"x\" * (150 << 20)); time.sleep(9999)' &";

let own: TestWaypoint;
let session: Session;
let first: Checkpoint;

beforeAll(async () => {
  process.env["WAYPOINT_LAZY_RESTORE"] = "off";
  own = await openTestWaypoint();
  delete process.env["WAYPOINT_LAZY_RESTORE"];
  session = await own.waypoint.new({ name: "web" });
  await session.exec(HOLD_MEMORY);
  await session.exec("marker=first");
  first = await session.checkpoint();
  await session.exec("marker=live");
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

const checkpoints = async () => {
  const { checkpoints: all } = await own.waypoint.log();
  return all.map(({ id }) => id);
};

/** Which CRIU of the daemon is meant. */
async function criuOf(command: RunningCriu["command"]) {
  return { stateDir: own.stateDir, daemonPid: await own.daemonPid(), command };
}

/** Starts a command after `prepare`, and signals it when CRIU is at work for it and stands still meanwhile. */
async function signalDuring(
  args: string[],
  at: RunningCriu["command"],
  signal: NodeJS.Signals,
  prepare?: () => Promise<unknown>,
) {
  let child: ChildProcess | undefined;
  const begin = () => {
    child = startCommand(own.stateDir, args);
    return finished(child);
  };
  const { criu, outcome } = await stopInCriu(await criuOf(at), begin, prepare);
  child?.kill(signal);
  // The client has told the daemon when it has handled the signal; it waits for the answer then.
  await eventually(
    "the signal to be handled",
    () => pendingSignals(child?.pid ?? 0),
    (n) => n === 0,
  );
  goOn(criu);
  const ended = await outcome;
  if (ended instanceof Error) throw ended;
  return ended;
}

/** The daemon itself continues a CRIU that stands still for seconds; then it may have ended. */
function goOn(pid: number): void {
  try {
    process.kill(pid, "SIGCONT");
  } catch (error) {
    if (!isSystemError(error, "ESRCH")) throw error;
  }
}

function pendingSignals(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number.parseInt(/^ShdPnd:\s+(\S+)/m.exec(status)?.[1] ?? "0", 16);
}

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "a checkpoint that %s cancels is undone, and says so",
  async (signal) => {
    let before: string[] = [];
    let head: string | null = null;
    const look = async () => {
      before = await checkpoints();
      ({ head } = await session.info());
    };

    const { exitCode, stderr } = await signalDuring(["checkpoint", "web"], "dump", signal, look);

    expect({ exitCode, stderr }).toEqual({
      exitCode: 130,
      stderr: "Error: The operation was cancelled; what it had begun was undone.\n",
    });
    expect(await checkpoints()).toEqual(before);
    expect((await session.info()).head).toBe(head);
    expect((await session.exec("echo $marker")).stdout).toBe("live\n");
  },
);

test("a verification that is cancelled says so", async () => {
  const verifying = startCommand(own.stateDir, ["verify", first.id, "--", "sleep 98765"]);
  const ended = finished(verifying);
  await eventually("the command to run", () => isRunning(SLEEPING), Boolean);

  verifying.kill("SIGINT");

  expect(await ended).toMatchObject({
    exitCode: 130,
    stderr: "Error: The operation was cancelled.\n",
  });
  expect(isRunning(SLEEPING)).toBe(false);
  expect((await own.waypoint.sessions()).map(({ name }) => name)).toEqual(["web"]);
});

/** As the kernel has it. */
const SLEEPING = ["sleep", "98765", ""].join("\0");

/** Tells whether a process of the machine has this command line. */
function isRunning(commandLine: string): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1") === commandLine;
    } catch {
      return false; // It has ended meanwhile.
    }
  });
}

test("a restore that is cancelled leaves the session and its timeline as they were", async () => {
  let before: string[] = [];
  let pid: number | null = null;
  const look = async () => {
    await session.exec("marker=live");
    before = await checkpoints();
    ({ pid } = await session.info());
  };

  const args = ["restore", "web", first.id, "--yes"];
  const { exitCode, stderr } = await signalDuring(args, "restore", "SIGINT", look);

  expect({ exitCode, stderr }).toEqual({
    exitCode: 130,
    stderr: "Error: The operation was cancelled; what it had begun was undone.\n",
  });
  expect((await session.info()).pid).toBe(pid);
  expect((await session.exec("echo $marker")).stdout).toBe("live\n");
  await eventually("the same checkpoints", checkpoints, (now) => now.join() === before.join());
});

test("a fork that is cancelled leaves no session", async () => {
  const only = async () => {
    for (const { id } of await own.waypoint.sessions())
      if (id !== session.id) await (await own.waypoint.session(id)).remove({ force: true });
  };

  const { exitCode } = await signalDuring(["fork", first.id], "restore", "SIGINT", only);

  expect(exitCode).toBe(130);
  expect((await own.waypoint.sessions()).map(({ name }) => name)).toEqual(["web"]);
});

test("what waits for its turn is cancelled at once, and what has the turn is not disturbed", async () => {
  const { criu, outcome } = await stopInCriu(await criuOf("dump"), () => session.checkpoint());
  const cancel = new AbortController();
  const waiting = session.checkpoint({ name: "never", cancel: cancel.signal });

  cancel.abort();

  await expect(waiting).rejects.toMatchObject({
    ...{ code: "CANCELLED", cause: { name: "AbortError" } },
  });
  goOn(criu);
  const kept = (await outcome) as Checkpoint;
  expect((await runCommand(own.stateDir, ["show", kept.id])).exitCode).toBe(0);
  expect((await runCommand(own.stateDir, ["show", "never"])).exitCode).toBe(10);
});

/** Makes an operation and cancels it while it waits or works; resolves with what it says. */
async function cancelled<N extends OperationName>(operation: N, input: OperationInput<N>) {
  const stream = await openStream(own.stateDir, operation, input);
  stream.control({ control: "cancel" });
  try {
    for await (const _ of stream);
    return "done";
  } catch (error) {
    return (error as Error).message;
  }
}

test("every operation that waits for its turn in a session is undone at once", async () => {
  let before: string[] = [];
  let isHeld = true;
  const hold = async () => {
    const held = await session.checkpoint({ filesOnly: false });
    isHeld = false;
    return held;
  };
  const { criu, outcome } = await stopInCriu(await criuOf("dump"), hold, async () => {
    before = await checkpoints();
    isHeld = true;
  });
  const web = { session: "web" };
  const said = {
    checkpoint: await cancelled("checkpoint", web),
    cp: await cancelled("cp", {
      from: [{ path: "/etc/hostname" }],
      to: { moment: "web", path: "/" },
    }),
    forward: await cancelled("forward", { ...web, port: 8080 }),
    merge: await cancelled("merge", { ...web, checkpoint: first.id }),
    restore: await cancelled("restore", { ...web, checkpoint: first.id }),
    rm: await cancelled("rm", web),
    "rm.checkpoints": await cancelled("rm.checkpoints", { checkpoints: [first.id], force: true }),
    "rm.files": await cancelled("rm.files", web),
    stop: await cancelled("stop", web),
    undo: await cancelled("undo", web),
  };

  expect(new Set(Object.values(said))).toEqual(
    new Set(["The operation was cancelled; what it had begun was undone."]),
  );
  expect(isHeld).toBe(true);
  goOn(criu);
  const { id } = (await outcome) as Checkpoint;
  expect(await checkpoints()).toEqual([...before, id]);
});

test("an operation that makes something takes it back: new, browse", async () => {
  expect(await cancelled("new", { name: "unwanted" })).toMatch(/what it had begun was undone/);
  expect(await cancelled("browse", { moment: first.id })).toMatch(/what it had begun was undone/);

  expect((await own.waypoint.sessions()).map(({ name }) => name)).toEqual(["web"]);
  expect((await runCommand(own.stateDir, ["browse", "--list", "--json"])).stdout).toBe(
    '{"browses":[]}\n',
  );
});

test.each([
  ["stop", () => ["stop", "web"]],
  ["restore in parts", () => ["restore", "web", first.id, "--only", "files", "--yes"]],
])("%s that is cancelled during its own checkpoint changes nothing", async (_, args) => {
  const restored = async () => {
    await session.restore(first);
    await session.exec("echo live > /root/file; marker=live");
  };

  const { exitCode, stderr } = await signalDuring(args(), "dump", "SIGINT", restored);

  expect({ exitCode, stderr }).toEqual({
    exitCode: 130,
    stderr: "Error: The operation was cancelled; what it had begun was undone.\n",
  });
  expect((await session.exec("cat /root/file; echo $marker")).stdout).toBe("live\nlive\n");
});

test("Ctrl-C reaches the command of `run --json`, and its end is told", async () => {
  const args = ["run", "--json", "--", "sh", "-c", "sleep 87654; echo on"];
  const running = startCommand(own.stateDir, args);
  const ended = finished(running);
  await eventually(
    "the command to run",
    () => isRunning(["sleep", "87654", ""].join("\0")),
    Boolean,
  );

  running.kill("SIGINT");

  const { exitCode, stdout } = await ended;
  expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({ exitCode: 130 });
  await runCommand(own.stateDir, ["rm", "--force", JSON.parse(stdout).name]);
});
