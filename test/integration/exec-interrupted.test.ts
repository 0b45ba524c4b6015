import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Session, StreamEvent } from "../../src/index.ts";
import { openStream } from "../../src/surfaces/client/index.ts";
import { finished, runCommand, runShellLine, startCommand } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let session: Session;
let shellPid: string;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web" });
});

beforeEach(async () => {
  shellPid = (await session.exec("marker=kept; echo $$")).stdout;
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** The shell is the one from before, and idle. */
async function expectSameShell(): Promise<void> {
  const { stdout } = await session.exec("echo $marker; echo $$", { timeoutMs: 20_000 });
  expect(stdout).toBe(`kept\n${shellPid}`);
}

async function runningCommands(): Promise<string[]> {
  return (await session.ps()).map(({ command }) => command);
}

describe("--timeout interrupts the command, not the shell, and exits 124", () => {
  test.each([
    ["a program", "sleep 100000; echo not reached"],
    ["a builtin loop", "while :; do :; done"],
    ["a loop of programs", "while true; do sleep 0.01; done"],
    ["a function", "spin() { while :; do :; done; }; spin"],
    ["a pipeline", "yes | cat > /dev/null"],
    ["a program that ignores the interrupt", `bash -c 'trap "" INT; sleep 100000; :'`],
    ["a program that ignores all but a kill", `bash -c 'trap "" INT TERM; sleep 100000; :'`],
    [
      "a program that ignores all but a kill, then a loop of others",
      `bash -c 'trap "" INT TERM; sleep 100000; :'; while true; do sleep 0.01; done`,
    ],
    ["a program that waits for input", "read -r word < <(sleep 100000)"],
  ])("%s", async (_name, line) => {
    const result = await session.exec(line, { timeoutMs: 300 });

    expect(result).toMatchObject({ exitCode: 124, timedOut: true, stdout: "" });
    await expectSameShell();
  });

  test("a loop of short programs, at whatever moment", async () => {
    for (let round = 0; round < 40; round += 1) {
      const notices: string[] = [];
      const result = await session.exec("while true; do /bin/true; done", {
        timeoutMs: 60 + round,
        onNotice: (notice) => notices.push(notice),
      });
      expect({ ...result, notices }).toMatchObject({ exitCode: 124, notices: [] });
      await expectSameShell();
    }
  });

  test("a program that cleans up when it is interrupted", async () => {
    const line = `bash -c 'trap "echo cleaned; exit 7" INT; echo started; sleep 100000 & wait'`;

    const result = await session.exec(line, { timeoutMs: 2000 });

    expect(result).toMatchObject({ exitCode: 124, stdout: "started\ncleaned\n" });
    await expectSameShell();
    await session.exec("pkill -f '^sleep 100000$'", { shell: "own" });
  });

  test("a shell that ignores the interrupt itself keeps its command; the caller is answered", async () => {
    const notices: string[] = [];
    await session.exec("trap '' INT");

    const result = await session.exec("while [ ! -e /root/ended ]; do :; done", {
      timeoutMs: 200,
      onNotice: (notice) => notices.push(notice),
    });

    expect(result).toMatchObject({ exitCode: 124, timedOut: true });
    expect(notices.join()).toContain("ignores the interruption");
    await session.exec("touch /root/ended", { shell: "own" });
    await session.exec("trap - INT");
    await expectSameShell();
  });

  test("a shell that somebody ended is started again by the next command", async () => {
    await session.exec(`kill -KILL ${shellPid}`, { shell: "own" });

    expect(await session.exec("echo fresh")).toMatchObject({ stdout: "fresh\n", exitCode: 0 });
  });

  test("a command that waits for a shell that is ended goes to the next one", async () => {
    const { stdout } = await session.exec("echo $$");
    const ended = session.exec("touch /root/busy; sleep 100003");
    await session.exec("until [ -e /root/busy ]; do sleep 0.01; done", { shell: "own" });
    const waiting = [1, 2, 3].map((number) => session.exec(`echo waited ${number}`));
    await session.exec(`sleep 0.3; kill -KILL ${stdout}`, { shell: "own" });

    expect(await ended).toMatchObject({ shellEnded: true });
    for (const [index, result] of (await Promise.all(waiting)).entries()) {
      expect(result).toMatchObject({ stdout: `waited ${index + 1}\n`, exitCode: 0 });
    }
    await session.exec("rm /root/busy");
  });

  test("in its own shell, with all that it started", async () => {
    const line = "trap '' INT; sleep 100001 & sleep 100002";

    const result = await session.exec(line, { shell: "own", timeoutMs: 200 });

    expect(result).toMatchObject({ exitCode: 124, timedOut: true });
    // Each has its signal by now; on a busy machine it dies of it a moment later.
    await eventually(
      "the end of all that it started",
      async () => (await runningCommands()).filter((command) => /sleep 10000/.test(command)),
      (left) => left.length === 0,
    );
  });

  test("a command that still waits for the shell, without disturbing the one before", async () => {
    await session.exec("mkfifo ~/gate");
    const first = session.exec("read -r word < ~/gate; echo $word");

    const second = await session.exec("echo never", { timeoutMs: 200 });
    await session.exec("echo opened > ~/gate", { shell: "own" });

    expect(second).toMatchObject({ exitCode: 124, timedOut: true, stdout: "" });
    expect((await first).stdout).toBe("opened\n");
    await session.exec("rm ~/gate");
  });

  test("on the command line", async () => {
    const args = ["exec", "web", "--timeout", "2", "--", "echo before; sleep 100000"];

    const { stdout, stderr, exitCode } = await runCommand(own.stateDir, args);

    expect({ stdout, exitCode }).toEqual({ stdout: "before\n", exitCode: 124 });
    expect(stderr).toContain("its time was over");
    await expectSameShell();
  });
});

describe("a client that goes away in the middle", () => {
  test("of an endless output: the command ends, and the next one runs", async () => {
    const child = startCommand(own.stateDir, ["exec", "web", "--", "yes"]);
    await once(child.stdout as NonNullable<typeof child.stdout>, "data");

    child.kill("SIGKILL");

    await expectSameShell();
    expect(await runningCommands()).not.toContain("yes");
  });

  test("of an endless output, at whatever moment: the shell is there for the next command", async () => {
    for (let round = 0; round < 40; round += 1) {
      const leaving = new AbortController();
      const output = session.exec("yes", {
        signal: leaving.signal,
        onStdout: () => leaving.abort(),
      });

      await expect(output).rejects.toMatchObject({ code: "CANCELLED" });
      await expectSameShell();
    }
  });

  test("of a command that prints nothing: it is interrupted as by a hang-up", async () => {
    const child = startCommand(own.stateDir, ["exec", "web", "--", "sleep 100000"]);
    await eventually("the command to run", runningCommands, (all) => all.includes("sleep 100000"));

    child.kill("SIGKILL");

    await expectSameShell();
  });

  test("of a command that waits for the shell: it never runs", async () => {
    await session.exec("mkfifo ~/gate");
    const first = session.exec("read -r word < ~/gate; echo $word");
    const leaving = new AbortController();
    const waiting = session.exec("touch ~/never", {
      signal: leaving.signal,
      onNotice: () => leaving.abort(),
    });

    await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
    await session.exec("echo opened > ~/gate", { shell: "own" });

    expect((await first).stdout).toBe("opened\n");
    expect((await session.exec("ls ~/never; rm ~/gate")).stdout).toBe("");
  });

  test.each([
    ["a program", "seq 1 100000000"],
    ["the shell itself", "'for ((i = 1; ; i++)); do echo $i; done'"],
  ])(
    "of its output: `| head` ends %s quietly, with all that head wanted",
    async (_name, command) => {
      for (const shell of ["live", "own"]) {
        const line = `$W exec web --shell ${shell} -- ${command} | head -n 2`;

        expect(await runShellLine(own.stateDir, line)).toEqual({
          stdout: "1\n2\n",
          stderr: "",
          exitCode: 0,
        });
      }
      await expectSameShell();
    },
  );
});

describe("a session that is restored in the middle", () => {
  test("ends exec with a clear error, on the command line with exit code 125", async () => {
    const checkpoint = await session.checkpoint();
    const line = "echo started; sleep 100000";
    const stream = await openStream(own.stateDir, "exec", { session: "web", command: [line] });
    const events = stream[Symbol.asyncIterator]();
    const first = (await events.next()) as IteratorYieldResult<StreamEvent>;
    const child = startCommand(own.stateDir, ["exec", "web", "--shell", "own", "--", line]);
    const ended = finished(child);
    await once(child.stdout as NonNullable<typeof child.stdout>, "data");

    await session.restore(checkpoint);

    expect(first.value.kind).toBe("stdout");
    await expect(events.next()).rejects.toMatchObject({
      code: "SESSION_ENDED",
      message: expect.stringContaining("restored meanwhile"),
    });
    const { stderr, exitCode } = await ended;
    expect(stderr).toContain("was restored meanwhile");
    expect(exitCode).toBe(125);
    await expectSameShell();
  });

  test.each([
    ["stopped", (target: Session) => target.stop()],
    ["removed", (target: Session) => target.remove({ force: true })],
  ])("or %s", async (what, end) => {
    const other = await own.waypoint.new();
    const started = Promise.withResolvers<void>();
    const running = other.exec("echo started; sleep 100000", {
      onStdout: () => started.resolve(),
    });
    await started.promise;

    await Promise.all([
      end(other),
      expect(running).rejects.toMatchObject({
        code: "SESSION_ENDED",
        message: expect.stringContaining(what),
      }),
    ]);
    await other.remove().catch(() => {});
  });
});
