import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Session, Verified } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { ASK_SERVER, askServer, startCountingServer } from "../support/counting-server.ts";
import { expectedHoldings, holdingsOf } from "../support/holdings.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web" });
  await startCountingServer(session);
});

afterEach(async () => {
  // Whatever a verification did, the machine holds what the catalog says and nothing else.
  const pid = await own.daemonPid();
  await eventually(
    "the forks to be gone",
    () => holdingsOf(own.stateDir, pid),
    (held) => {
      const expected = expectedHoldings(own.stateDir);
      const kinds = Object.keys(expected) as (keyof typeof expected)[];
      return kinds.every((kind) => isDeepStrictEqual(held[kind], expected[kind]));
    },
  );
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

test("a verify that kills the server and writes files leaves the session untouched", async () => {
  await session.exec("echo before > /root/file; cd /srv; export COLOR=blue; plain=yes");
  const before = await askServer(session);
  const { pid } = await session.info();
  const operations = (await own.waypoint.log()).operations.length;

  const line = `pwd; echo $COLOR $plain; ${ASK_SERVER}; kill -9 ${before.pid}; rm /root/file; touch /root/new; cd /; COLOR=red`;
  const checkpoint = await session.checkpoint({ verify: [line] });

  expect(checkpoint.info.verification).toMatchObject({
    command: line,
    exitCode: 0,
    timedOut: false,
    output: `/srv\nblue yes\n${before.pid} ${before.count + 1}\n`,
  });
  expect(await askServer(session)).toEqual({ pid: before.pid, count: before.count + 1 });
  const { stdout } = await session.exec("cat /root/file; ls /root/new; pwd; echo $COLOR");
  expect(stdout).toBe("before\n/srv\nblue\n");
  expect((await session.info()).pid).toBe(pid);
  const log = await own.waypoint.log();
  expect(log.operations).toHaveLength(operations);
  expect(log.sessions.map(({ name }) => name)).toEqual(["web"]);
  expect(log.checkpoints.at(-1)?.verification).toMatchObject({ exitCode: 0 });
});

test("it sees exactly its checkpoint, however far the session has gone on", async () => {
  await session.exec("echo one > /root/version");
  const first = await session.checkpoint();
  await session.exec("echo two > /root/version");
  const second = await session.checkpoint();

  expect((await first.verify("cat /root/version")).output).toBe("one\n");
  expect((await second.verify(["cat", "/root/version"])).output).toBe("two\n");
});

test("a failing command is a result, told apart from the checkpoint's own success", async () => {
  const args = ["checkpoint", "web", "--name", "red", "--verify", "echo out; echo err >&2; exit 7"];

  const { stdout, exitCode } = await runCommand(own.stateDir, args);
  const shown = await runCommand(own.stateDir, ["show", "red"]);
  const log = await runCommand(own.stateDir, ["log", "web"]);

  expect(exitCode).toBe(3);
  expect(stdout).toMatch(
    /^Captured web as \w+ \(red\)\nPaused .*\n(?:Changes: .*\n)?✗ .*exit code 7/,
  );
  expect(stdout).toMatch(/\n {4}out\n {4}err\n$/);
  expect(shown.stdout).toContain("exit code 7");
  expect(shown.stdout).toMatch(/\n {4}out\n {4}err\n$/);
  expect(log.stdout).toMatch(/✗ \w+ {2}red/);
});

test("the result is in the JSON of checkpoint, log and show", async () => {
  const words = ["--json", "checkpoint", "web", "--name", "told", "--verify", "echo said"];
  const expected = { command: "echo said", exitCode: 0, timedOut: false, output: "said\n" };

  const taken = await runCommand(own.stateDir, words);
  const log = await runCommand(own.stateDir, ["--json", "log", "web"]);
  const shown = await runCommand(own.stateDir, ["--json", "show", "told"]);

  expect(taken.exitCode).toBe(0);
  expect(JSON.parse(taken.stdout)).toMatchObject({ name: "told", verification: expected });
  expect(JSON.parse(log.stdout).checkpoints.at(-1)).toMatchObject({ verification: expected });
  expect(JSON.parse(shown.stdout)).toMatchObject({
    verification: expected,
    verifications: [{ ...expected, outputBytes: 5 }],
  });
});

test("what takes too long is ended with everything it started, and recorded", async () => {
  const line = "(sleep 1000; echo late) & setsid sleep 1001 & echo begun; sleep 1002";
  const checkpoint = await session.checkpoint({ verify: [line], verifyTimeoutMs: 4000 });

  expect(checkpoint.info.verification).toMatchObject({
    exitCode: 124,
    timedOut: true,
  });
  expect(checkpoint.info.verification?.output).toContain("begun\n");
  const shown = await own.waypoint.show(checkpoint);
  expect(shown.verifications).toMatchObject([{ timedOut: true }]);
  expect(shown.verification).toMatchObject({ timedOut: true });
});

test("many are verified at once, each result comes as it is there, and one by one they count", async () => {
  const made = [];
  for (const number of [1, 2, 3, 4, 5]) {
    await session.exec(`echo ${number} > /root/number`);
    made.push(await session.checkpoint({ name: `number-${number}` }));
  }
  const told: Verified[] = [];

  const result = await own.waypoint.verify(made, 'test "$(cat /root/number)" -ge 3', {
    concurrency: 3,
    onResult: (verified) => told.push(verified),
  });

  expect(result).toMatchObject({ passed: 3, failed: 2, notVerified: 0 });
  expect(result.results.map(({ name, passed }) => `${name} ${passed}`)).toEqual([
    "number-1 false",
    "number-2 false",
    "number-3 true",
    "number-4 true",
    "number-5 true",
  ]);
  expect(told.map(({ checkpoint }) => checkpoint).toSorted()).toEqual(
    made.map(({ id }) => id).toSorted(),
  );
});

test("the command line verifies many, and says how many passed", async () => {
  const words = ["number-1", "number-3", "--", "test", "-e", "/root/server.py"];
  const passing = await runCommand(own.stateDir, ["verify", ...words]);
  const failing = await runCommand(own.stateDir, ["--json", "verify", "number-1", "--", "false"]);
  const notRun = await runCommand(own.stateDir, [
    "verify",
    "number-1",
    "number-3",
    "--",
    "exit 126",
  ]);
  const unknown = await runCommand(own.stateDir, ["verify", "nothing", "--", "true"]);
  const without = await runCommand(own.stateDir, ["verify", "number-1", "true"]);

  expect(passing.exitCode).toBe(0);
  expect(passing.stdout).toContain("2 passed, 0 failed.");
  expect(failing.exitCode).toBe(3);
  expect(JSON.parse(failing.stdout)).toMatchObject({
    passed: false,
    verification: { exitCode: 1 },
  });
  expect(notRun.exitCode).toBe(4);
  expect(notRun.stdout).toContain("0 passed, 0 failed, 2 not verified.");
  expect(unknown.stderr).toContain("nothing");
  expect(without.exitCode).toBe(2);
  expect(without.stderr).toContain("Put -- before the command");
});

test("all verifications of a checkpoint are kept; what its own command said last marks it", async () => {
  const checkpoint = await session.checkpoint();
  await checkpoint.verify("exit 1");
  await checkpoint.verify("echo good");

  const { verification, verifications } = await checkpoint.show();

  expect(verification).toMatchObject({ command: "exit 1", exitCode: 1 });
  expect(verifications.map(({ command }) => command)).toEqual(["echo good", "exit 1"]);
  expect(verifications[0]).toMatchObject({ output: "good\n", outputBytes: 5 });
});

test("a typo, a signal, a timeout, another command and a search leave the mark of a checkpoint", async () => {
  const checkpoint = await session.checkpoint({ verify: ["test -e /root/server.py"] });
  const before = await session.checkpoint({ filesOnly: true });
  const marked = async () => (await checkpoint.show()).verification;
  expect(await marked()).toMatchObject({ command: "test -e /root/server.py", exitCode: 0 });

  await checkpoint.verify("npmm test");
  await checkpoint.verify("kill -9 $$");
  await checkpoint.verify("sleep 1000", { timeoutMs: 300 });
  await checkpoint.verify("false");
  await runCommand(own.stateDir, ["bisect", checkpoint.id, before.id, "--", "npmm test"]);
  await runCommand(own.stateDir, ["bisect", checkpoint.id, before.id, "--", "false"]);

  expect(await marked()).toMatchObject({ command: "test -e /root/server.py", exitCode: 0 });
  const log = await runCommand(own.stateDir, ["log", session.name]);
  expect(log.stdout).toMatch(new RegExp(`✓ ${checkpoint.id.slice(0, 6)}`));
  const { stdout } = await runCommand(own.stateDir, ["show", checkpoint.id]);
  expect(stdout).toMatch(/- npmm test, exit code 127/);
  expect(stdout).toMatch(/✗ false, exit code 1/);
});

test("a command that was tried and never came to a verdict is seen in the log, and found", async () => {
  const late = await session.checkpoint({ name: "late" });
  const command = ["verify", "late", "--timeout", "1", "--", "sleep 1000"];
  expect(await runCommand(own.stateDir, command)).toMatchObject({ exitCode: 3 });

  const log = (...more: string[]) => runCommand(own.stateDir, ["log", session.name, ...more]);
  expect((await log()).stdout).toMatch(new RegExp(`- ${late.id.slice(0, 6)}`));
  expect((await log("--verified", "undecided")).stdout).toContain(late.id.slice(0, 6));
  expect((await log("--verified", "never")).stdout).not.toContain(late.id.slice(0, 6));
  await late.verify("true");
  expect((await log()).stdout).toMatch(new RegExp(`✓ ${late.id.slice(0, 6)}`));
});

test("a command that is not there exits with 4, of verify and of checkpoint", async () => {
  const taken = ["checkpoint", session.name, "--verify", "no-such-command"];
  expect(await runCommand(own.stateDir, taken)).toMatchObject({ exitCode: 4 });
  const verified = ["verify", `${session.name}@`, "--", "no-such-command"];
  expect(await runCommand(own.stateDir, verified)).toMatchObject({ exitCode: 4 });
});

test("of a long output the end is kept, in the order in which it was printed", async () => {
  const checkpoint = await session.checkpoint();

  const line = "for i in $(seq 1 20000); do echo out$i; echo err$i >&2; done";
  const { output, outputBytes } = await checkpoint.verify(line);

  expect(output.length).toBe(64 * 1024);
  expect(outputBytes).toBeGreaterThan(300_000);
  expect(output.endsWith("out19999\nerr19999\nout20000\nerr20000\n")).toBe(true);
});

test("a checkpoint of files alone is verified in a fresh shell on them", async () => {
  await session.exec("echo kept > /root/kept");
  const checkpoint = await session.checkpoint({ filesOnly: true });

  const { output, exitCode } = await checkpoint.verify("cat /root/kept; exit 4");

  expect({ output, exitCode }).toEqual({ output: "kept\n", exitCode: 4 });
});

test("where the shell is busy the command runs beside it, in its directory, with its variables", async () => {
  await session.exec("cd /srv; export COLOR=green");
  const running = session.exec("echo $$ > /root/busy; read -r line < <(sleep 1000)");
  await eventually(
    "the shell to be busy",
    () => session.exec("test -e /root/busy", { shell: "own" }),
    ({ exitCode }) => exitCode === 0,
  );

  const checkpoint = await session.checkpoint();
  const { output } = await checkpoint.verify(
    "pwd; echo $COLOR; kill -0 $(cat /root/busy) && echo alive",
  );

  expect(output).toBe("/srv\ngreen\nalive\n");
  await session.exec("pkill sleep", { shell: "own" });
  await running;
});

test("nobody has to wait for it", async () => {
  const checkpoint = await session.checkpoint({ verify: ["echo later"], verifyWait: false });

  expect(checkpoint.info.verification).toBeNull();
  const { verification } = await eventually(
    "the verification",
    () => checkpoint.show(),
    (shown) => shown.verification !== null,
  );
  expect(verification).toMatchObject({ exitCode: 0, output: "later\n" });
});

test("in a shell without a line editor it runs in that shell too", async () => {
  const plain = await own.waypoint.new({ name: "plain", shell: "dash" });
  await plain.exec("cd /srv; A=1; export B=2");

  const checkpoint = await plain.checkpoint({ verify: ["pwd; echo $A $B; exit 6"] });

  expect(checkpoint.info.verification).toMatchObject({ exitCode: 6, output: "/srv\n1 2\n" });
  await plain.remove({ force: true });
});
