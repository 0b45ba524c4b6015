import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../support/command-line.ts";
import { failureOf } from "../support/failing-command.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

const cli = (...words: string[]) => runCommand(own.stateDir, words);
const names = async () => (await own.waypoint.sessions()).map(({ name }) => name);

test("a stopped session starts again with its processes, and keeps nothing twice", async () => {
  const session = await own.waypoint.new({ name: "web" });
  await session.exec("cd /srv; export MARK=live; sleep 1000 & echo kept > file");
  const stopped = await cli("stop", "web");
  const started = await cli("start", "web", "--json");
  const { stdout } = await session.exec("pwd; echo $MARK; cat file; jobs");
  const again = await failureOf(own, ["start", "web"]);

  expect(stopped.stdout).toContain("Start it again with `waypoint start web`.");
  expect(JSON.parse(started.stdout)).toMatchObject({ hasProcesses: true, undo: null });
  expect(stdout).toMatch(/^\/srv\nlive\nkept\n\[1\]\+ +Running +sleep 1000 &\n$/);
  expect(again.error).toMatchObject({
    code: "SESSION_WRONG_STATE",
    message: "Session web is running already.",
  });
});

test("one that ended by itself starts from where it stands, and undo has its files of then", async () => {
  const session = await own.waypoint.new({ name: "crashed" });
  await session.exec("cd /srv; export MARK=then; echo one > file");
  const { id } = await session.checkpoint();
  await session.exec("echo two > file");
  process.kill((await session.info()).pid as number, "SIGKILL");
  const stateOf = async () => (await session.info()).state;
  await eventually("the session to end", stateOf, (state) => state === "ended");

  const started = await session.start();
  const { stdout } = await session.exec("echo $MARK; cat file");
  await session.undo();
  const left = await session.exec("cat /srv/file");

  expect(started).toMatchObject({ checkpoint: id, hasProcesses: true, undo: expect.any(String) });
  expect(stdout).toBe("then\none\n");
  expect(left.stdout).toBe("two\n");
});

test("fresh, or without a checkpoint, a shell starts on the files as they were left", async () => {
  const session = await own.waypoint.new({ name: "plain" });
  await session.exec("export MARK=gone; echo left > /srv/file");
  await session.stop({ checkpoint: false });
  const started = await session.start();
  const { stdout } = await session.exec("echo [$MARK]; cat /srv/file");
  await session.checkpoint();
  await session.exec("echo later > /srv/file; export MARK=again");
  await session.stop();
  const fresh = await cli("start", "plain", "--fresh");
  const now = await session.exec("echo [$MARK]; cat /srv/file");

  expect(started.hasProcesses).toBe(false);
  expect(stdout).toBe("[]\nleft\n");
  expect(fresh.stdout).toContain("a new shell on its files; its processes did not come back");
  expect(now.stdout).toBe("[]\nlater\n");
});

test("run --rm leaves no session, whatever the command does; --from is a fork", async () => {
  const session = await own.waypoint.new({ name: "origin" });
  await session.exec("cd /srv; export MARK=forked");
  await session.checkpoint();
  const before = await names();

  const done = await cli("run", "--rm", "--from", "origin", "--", "echo $MARK; pwd");
  const failed = await cli("run", "--rm", "--name", "gone", "--", "exit 7");
  const kept = await cli("run", "--from", "origin", "--name", "kept", "--json", "--", "echo $MARK");
  const refused = await cli("run", "--rm", "--from", "origin", "--net", "none", "--", "true");

  expect(done).toMatchObject({ exitCode: 0, stdout: "forked\n/srv\n" });
  expect(failed).toMatchObject({
    exitCode: 7,
    stderr: expect.stringContaining("gone was removed."),
  });
  expect(JSON.parse(kept.stdout)).toMatchObject({ name: "kept", stdout: "forked\n" });
  expect(refused).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("--name and --pids"),
  });
  expect(await names()).toEqual([...before, "kept"]);
});
