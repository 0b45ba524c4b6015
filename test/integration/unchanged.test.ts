import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { destroyImages, untilDurable } from "../support/checkpoint-space.ts";
import { runCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Without the start-up files of this machine's user, which may leave processes of their own. */
const PLAIN_SHELL = { env: { HOME: "/nonexistent" } };

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

/** Takes checkpoints until the session has come to rest, and returns one that is shared. */
async function untilShared(session: Session): Promise<Checkpoint> {
  return await eventually(
    "a checkpoint that shares its parent's captures",
    () => session.checkpoint(),
    ({ info }) => info.unchangedSince !== null,
  );
}

/** Returns the only child of a process of the host. */
function childOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  if (children.length !== 1) throw new Error(`process ${pid} has children ${children}`);
  return Number(children[0]);
}

describe("an idle shell", () => {
  let session: Session;
  let shared: Checkpoint;

  beforeAll(async () => {
    session = await own.waypoint.new({ name: "idle" });
    await session.exec("MARK=first; echo first > /srv/mark");
    shared = await untilShared(session);
  });

  test("is captured once: the second checkpoint shares what its parent has", async () => {
    const next = await session.checkpoint({ intent: "for itself", name: "own-row" });

    expect(next.info).toMatchObject({
      ...{ unchangedSince: shared.id, parent: shared.id, pauseMs: 0, content: "full" },
      ...{ intent: "for itself", name: "own-row", memoryBytes: shared.info.memoryBytes },
    });
    expect(next.info.memoryBytes).toBeGreaterThan(0);
  });

  test("has none taken that is asked for only if something has changed", async () => {
    const before = (await session.info()).head;
    const again = await session.checkpoint({ ifChanged: true });
    expect(again.id).toBe(before);
    const words = ["checkpoint", "idle", "--if-changed", "-m", "not taken"];
    const { stdout } = await runCommand(own.stateDir, words);
    expect(stdout).toBe(`None was taken: in idle nothing has changed since ${before} (own-row).\n`);
    const told = await runCommand(own.stateDir, ["--json", ...words]);
    expect(JSON.parse(told.stdout)).toMatchObject({ id: before, taken: false });

    await session.state.set("step", 1);
    const ofState = await session.checkpoint({ ifChanged: true });
    expect(ofState.id).not.toBe(before);
    await session.exec("echo other > /srv/other");
    const ofFiles = await session.checkpoint({ ifChanged: true });
    expect(ofFiles.info.parent).toBe(ofState.id);
    shared = await untilShared(session);
  });

  test("the command line says so", async () => {
    const { stdout, exitCode } = await runCommand(own.stateDir, ["checkpoint", "idle"]);

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /^In the machine nothing has run or changed since [a-z0-9]{10}, whose capture/m,
    );
  });

  test("becomes durable, and outlives the captures that it shares", async () => {
    const parents = [await untilShared(session), await session.checkpoint()];
    const last = await session.checkpoint({ durable: true });
    expect(last.info).toMatchObject({ stage: "durable", unchangedSince: parents[1]?.id });
    await untilDurable(parents);
    for (const parent of parents) await destroyImages(own, parent);

    const [fork] = await last.fork();
    await session.exec("MARK=second; echo second > /srv/mark");
    await session.restore(last);

    for (const each of [session, fork]) {
      expect((await each?.exec("echo $MARK; cat /srv/mark"))?.stdout).toBe("first\nfirst\n");
    }
  });
});

describe("not shared, since it may not be the same any more:", () => {
  let session: Session;

  beforeAll(async () => {
    session = await own.waypoint.new({ name: "changing" });
  });

  /** Comes to rest, lets something happen, and expects a capture of its own. */
  async function expectCapturedAfter(change: () => unknown, of = session): Promise<void> {
    await untilShared(of);
    await change();
    expect((await of.checkpoint()).info.unchangedSince).toBeNull();
  }

  test("after a command in the live shell", () => expectCapturedAfter(() => session.exec("true")));

  test("after a command of its own that leaves no trace", () =>
    expectCapturedAfter(() => session.exec(["true"], { shell: "own" })));

  test("after keys at an attached terminal", () =>
    expectCapturedAfter(async () => {
      await using terminal = await TestTerminal.attach(session);
      await terminal.type("typed");
      await terminal.waitFor(/typed/);
    }));

  test("after a file was written by somebody outside", async () => {
    const { pid } = await session.info();
    await expectCapturedAfter(() => writeFileSync(`/proc/${pid}/root/srv/outside`, "one"));
    await expectCapturedAfter(() => writeFileSync(`/proc/${pid}/root/srv/outside`, "two"));
  });

  test("after a signal that a program does not take yet", async () => {
    const waiting = await own.waypoint.new(PLAIN_SHELL);
    const program =
      "import signal; signal.pthread_sigmask(0, {10}); open('/srv/on', 'w'); signal.pause()";
    await waiting.exec(`python3 -c "${program}" & until test -e /srv/on; do sleep 0.05; done`);
    const pid = childOf(childOf((await waiting.info()).pid ?? 0));
    await expectCapturedAfter(() => process.kill(pid, "SIGUSR1"), waiting);
  });

  test("after a stopped job was continued", async () => {
    const stopping = await own.waypoint.new(PLAIN_SHELL);
    await stopping.exec("(kill -STOP $BASHPID; kill -STOP $BASHPID) &");
    const job = childOf(childOf((await stopping.info()).pid ?? 0));
    const untilStopped = () =>
      eventually(
        "a stopped job",
        () => readFileSync(`/proc/${job}/stat`, "utf8"),
        (stat) => stat.includes(") T "),
      );
    await untilStopped();
    await expectCapturedAfter(async () => {
      process.kill(job, "SIGCONT");
      await untilStopped();
    }, stopping);
  });

  test("after a restore, until it was captured again", async () => {
    const before = await untilShared(session);
    await session.restore(before);
    const after = await session.checkpoint();
    expect(after.info.unchangedSince).toBeNull();
  });

  test("when the daemon is another one", () =>
    expectCapturedAfter(async () => {
      await killDaemon(await own.daemonPid());
      await own.waypoint.sessions();
    }));

  test("while a program waits with a timeout, from one tick to the next", async () => {
    await session.exec("while sleep 0.5; do COUNT=$((COUNT + 1)); done & LOOP=$!");
    for (let tries = 0; tries < 5; tries += 1) {
      expect((await session.checkpoint()).info.unchangedSince).toBeNull();
    }
    await session.exec("kill $LOOP; wait");
  });
});

test("not shared while a program has set an alarm, which nothing but its images shows", async () => {
  const session = await own.waypoint.new({ name: "alarmed" });
  const program = `
import signal
signal.signal(signal.SIGALRM, lambda *_: None)
signal.alarm(3600)
open("/srv/on", "w")
while True: signal.pause()
`;
  await session.exec(["sh", "-c", "cat > /srv/alarm.py"], { shell: "own", input: program });
  await session.exec("python3 /srv/alarm.py & until test -e /srv/on; do sleep 0.05; done");
  for (let tries = 0; tries < 5; tries += 1) {
    expect((await session.checkpoint()).info.unchangedSince).toBeNull();
  }
  await session.exec("kill -KILL $!; wait");
  await untilShared(session);
});

test("not shared with a parent that was captured elsewhere: files alone, or the host's network", async () => {
  const session = await own.waypoint.new({ name: "partial" });
  await untilShared(session);
  await session.checkpoint({ filesOnly: true });
  expect((await session.checkpoint()).info.unchangedSince).toBeNull();

  const onHost = await own.waypoint.new({ name: "on-host", net: "host" });
  for (let tries = 0; tries < 3; tries += 1) {
    expect((await onHost.checkpoint()).info.unchangedSince).toBeNull();
  }
});
