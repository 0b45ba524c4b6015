import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runCommand, WAYPOINT_COMMAND } from "../support/command-line.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { Tmux } from "../support/tmux.ts";

const SERVER = "/usr/bin/python3 -m http.server 8123 --bind 127.0.0.1 --directory /srv";

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web", net: "none", env: { HOME: "/none" } });
  await session.exec("mkdir -p /srv/app && cd /srv/app && echo one > kept && echo old > changed");
  await session.exec("echo lost > gone; (sleep 100001 &)");
  await session.checkpoint({ name: "green" });
  await own.waypoint.fork("green", { name: "other" });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await session.restore("green");
  await session.exec("echo new > changed; rm gone; echo extra > extra; pkill -f 'sleep 100001'");
  await session.exec(`(${SERVER} > /dev/null 2>&1 &)`);
  await eventually(
    "the server",
    () => session.exec("bash -c 'exec 3<>/dev/tcp/127.0.0.1/8123'"),
    ({ exitCode }) => exitCode === 0,
  );
});

function filesOf(changes: { files: { path: string; change: string }[] | null }) {
  return (changes.files ?? []).map(({ path, change }) => `${change} ${path}`);
}

test("the plan tells what is then undone, and changes nothing itself", async () => {
  const before = await own.waypoint.diff("web", "green");
  const plan = await session.planRestore("green");

  expect(filesOf(plan.changes)).toEqual([
    "modified /srv/app/changed",
    "deleted /srv/app/extra",
    "added /srv/app/gone",
  ]);
  expect(plan.changes.processes?.ended.map(({ command }) => command)).toEqual([SERVER]);
  expect(plan.changes.processes?.started.map(({ command }) => command)).toEqual(["sleep 100001"]);
  expect(plan.changes.ports?.closed).toMatchObject([{ protocol: "tcp", port: 8123 }]);
  expect(plan.commands?.map(({ command }) => command)).toContainEqual(
    expect.stringMatching(/^echo new/),
  );
  expect(plan.untouched.sessions).toEqual([
    { id: expect.any(String), name: "other", state: "running", isRelated: true },
  ]);
  expect(filesOf(await own.waypoint.diff("web", "green"))).toEqual(filesOf(before));

  const { undo, check } = await session.restore("green", { check: true });
  const undone = await own.waypoint.diff(undo ?? "", "green");

  expect(check).toMatchObject({
    asPlanned: true,
    files: { count: 0 },
    processes: { missing: [], others: [] },
    ports: { missing: [], others: [] },
  });
  expect(filesOf(undone)).toEqual(filesOf(plan.changes));
  expect(undone.ports?.closed).toMatchObject([{ port: 8123 }]);
});

test("restore --dry-run tells it to people, and as JSON to programs", async () => {
  const { stdout, exitCode } = await runCommand(own.stateDir, [
    ...["restore", "web", "green", "--dry-run"],
  ]);
  const json = await runCommand(own.stateDir, ["restore", "web", "green", "--dry-run", "--json"]);
  const plan = JSON.parse(json.stdout) as { changes: { files: { path: string }[] } };

  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^~ \/srv\/app\/changed/m);
  expect(stdout).toMatch(/^- \/srv\/app\/extra/m);
  expect(stdout).toMatch(/^- port tcp 127\.0\.0\.1:8123/m);
  expect(stdout).toMatch(/^- process \d+ \/usr\/bin\/python3 -m http\.server/m);
  expect(stdout).toMatch(/^\+ process \d+ sleep 100001/m);
  expect(stdout).toMatch(/^\$ echo new > changed/m);
  expect(stdout).toMatch(/^Not touched: session other$/m);
  expect(plan.changes.files).toHaveLength(3);
  expect((await session.exec("cat changed")).stdout).toBe("new\n");
});

test("on a terminal the plan is shown before the question; no leaves all as it is", async () => {
  const pids = (await session.ps()).map(({ hostPid }) => hostPid);
  const line = `${WAYPOINT_COMMAND} --dir ${own.stateDir} restore web green; echo exit $?`;
  await using terminal = await Tmux.start(line, { columns: 140, rows: 40 });
  const screen = await terminal.shows(/\[y\/N\]/);
  await terminal.type("n\r");
  await terminal.shows(/exit 130/);

  expect(screen).toMatch(/- \/srv\/app\/extra/);
  expect(screen).toMatch(/- port tcp 127\.0\.0\.1:8123/);
  expect((await session.ps()).map(({ hostPid }) => hostPid)).toEqual(pids);
  expect((await session.exec("cat changed")).stdout).toBe("new\n");
});

test("on a terminal yes goes on, and the check is said", async () => {
  const line = `${WAYPOINT_COMMAND} --dir ${own.stateDir} restore web green; echo exit $?`;
  await using terminal = await Tmux.start(line, { columns: 140, rows: 40 });
  await terminal.shows(/\[y\/N\]/);
  await terminal.type("y\r");
  const screen = await terminal.shows(/exit 0/);

  expect(screen).toMatch(
    /Checked: files that the session wrote, processes, ports are as planned\./,
  );
  expect((await session.exec("cat changed")).stdout).toBe("old\n");
});

test("without a terminal nobody is asked, and the check is said to programs too", async () => {
  const json = await runCommand(own.stateDir, ["restore", "web", "green", "--json"]);
  const undone = await runCommand(own.stateDir, ["undo", "web"]);
  const quick = await runCommand(own.stateDir, ["undo", "web", "--no-check", "--json"]);

  expect(JSON.parse(json.stdout)).toMatchObject({ check: { asPlanned: true } });
  expect(undone.stdout).toMatch(
    /^Checked: files that the session wrote, processes, ports are as planned\.$/m,
  );
  expect(JSON.parse(quick.stdout)).toMatchObject({ check: null });
});

test("a check names what is not as it was to be", async () => {
  // It writes all the time, thus between its first moment and the check, however quick that is.
  await session.exec("(bash -c 'while :; do echo tick >> /srv/app/ticks; done' &)");
  await eventually(
    "a tick",
    () => session.exec("test -s /srv/app/ticks"),
    ({ exitCode }) => exitCode === 0,
  );
  const ticking = await session.checkpoint();

  const found = await eventually(
    "a write before the check",
    () => session.restore(ticking.id, { check: true }),
    ({ check }) => (check?.files?.count ?? 0) > 0,
  );

  expect(found.check).toMatchObject({ asPlanned: false, files: { paths: ["/srv/app/ticks"] } });
});

test("what an agent has told since then is in the plan, too", async () => {
  await session.checkpoint({ agentSaid: "Looked at \u001b[31mthe server" });
  await session.auto({ policy: "task" });
  await session.auto({ taskDone: "server moved" });
  await eventually(
    "the task's checkpoint",
    async () => (await session.log()).checkpoints.at(-1)?.autoCause,
    (cause) => cause === "task",
  );

  const plan = await session.planRestore("green");
  const { stdout } = await runCommand(own.stateDir, ["restore", "web", "green", "--dry-run"]);

  expect(plan.told.map(({ kind, text }) => [kind, text])).toEqual([
    ["message", "Looked at \u001b[31mthe server"],
    ["task", "server moved"],
  ]);
  expect(stdout).toMatch(/^task done: server moved$/m);
  expect(stdout).not.toContain("\u001b");
});

test("what a person has typed since then is in the plan, and it says what it cannot list", async () => {
  await using terminal = await TestTerminal.attach(session);
  await terminal.type("echo typed-$((1 + 1))\r");
  await terminal.waitFor(/^typed-2$/);
  await session.checkpoint();

  const told = await session.planRestore("green");
  await terminal.type("echo later-$((1 + 1))\r");
  await terminal.waitFor(/^later-2$/);
  const untold = await session.planRestore("green");

  const typed = told.commands?.filter(({ by }) => by === "terminal");
  expect(typed?.map(({ command }) => command)).toEqual(["echo typed-$((1 + 1))"]);
  expect(told.commandsUnknown).toBeNull();
  expect(untold.commandsUnknown).toContain("typed since the last checkpoint is not listed");
  await session.restore("green", { whileTyping: true });
});
