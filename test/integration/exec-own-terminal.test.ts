import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runShellLine, WAYPOINT_COMMAND } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { Tmux } from "../support/tmux.ts";

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web" });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

/** A person runs a line with `$W` at a terminal; its exit code is shown when it has ended. */
async function atTerminal(line: string): Promise<Tmux> {
  const settings = `export WAYPOINT_DIR='${own.stateDir}'; W='${WAYPOINT_COMMAND}'`;
  return await Tmux.start(`${settings}; ${line}; echo "exit $?"; read _`, { columns: 100 });
}

async function commands(): Promise<string[]> {
  return (await session.ps()).map(({ command }) => command);
}

/** One terminal is the session's; each other one is a command's. */
async function terminalCount(): Promise<number> {
  return Number((await session.exec("ls /dev/pts | grep -c '[0-9]'")).stdout);
}

test("a command of another user, with variables, has a terminal of its own and its keys", async () => {
  await using person = await atTerminal(
    `$W exec web -t -u nobody -e WHAT=tea -- 'tty; stty size; id -un; read -r line; echo "$WHAT: $line"; exit 7'`,
  );

  await person.shows(/\/dev\/pts\/1\s+30 100\s+nobody/);
  await person.type("please\r");

  await person.shows(/please\s+tea: please\s+exit 7/);
  await eventually("its terminal's end", terminalCount, (count) => count === 1);
});

test("it learns of the size, and of Ctrl-C", async () => {
  await using person = await atTerminal(
    `$W exec web -t --shell own -- 'trap "stty size" WINCH; echo ready; while :; do sleep 0.1; done'`,
  );
  await person.shows(/ready/);

  await person.resize(70, 20);
  await person.shows(/^20 70$/m);
  await person.type("\u0003");

  await person.shows(/exit 130/);
  expect(await commands()).not.toContainEqual(expect.stringContaining("WINCH"));
});

test("the detach keys hang it up, and its programs with it", async () => {
  await using person = await atTerminal("$W exec web -t --shell own -- 'echo ready; sleep 54321'");
  await person.shows(/ready/);

  await person.type("\u001dd");

  await person.shows(/The command's terminal was hung up\.\s+exit 130/);
  await eventually("its programs", commands, (all) => !all.join(" ").includes("54321"));
  await eventually("its terminal's end", terminalCount, (count) => count === 1);
});

test("a client that is killed has its command hung up", async () => {
  await using _person = await atTerminal(
    "($W exec web -t -e A=b -- 'echo ready; sleep 54322' & echo $! >$WAYPOINT_DIR/client; wait); true",
  );
  await eventually("the command", commands, (all) => all.join(" ").includes("54322"));

  await runShellLine(own.stateDir, `kill -9 $(cat '${own.stateDir}/client')`);

  await eventually("its programs", commands, (all) => !all.join(" ").includes("54322"));
});

test("without a terminal here its output comes through a pipe, and so does its input", async () => {
  const line = await runShellLine(
    own.stateDir,
    `printf 'one\\ntwo\\n' | $W exec web -t -i -- 'tty; wc -l; tty >&2'`,
  );

  expect(line).toMatchObject({ exitCode: 0, stderr: "" });
  expect(line.stdout.split("\r\n")).toEqual(expect.arrayContaining(["/dev/pts/1", "2"]));
});

test("its time limit ends it", async () => {
  const result = await session.exec("trap '' INT; sleep 54323; :", {
    ...{ tty: true, shell: "own", timeoutMs: 300 },
  });

  expect(result).toMatchObject({ exitCode: 124, timedOut: true, shellEnded: false });
  expect(await commands()).not.toContainEqual(expect.stringContaining("54323"));
});

test("a checkpoint is taken beside it, and a fork goes on with it", async () => {
  await using person = await atTerminal("$W exec web -t -u nobody -- 'echo ready; cat; echo over'");
  await person.shows(/ready/);

  const checkpoint = await session.checkpoint();
  await person.type("still here\r");
  await person.shows(/still here\s+still here/);
  const [fork] = await own.waypoint.fork(checkpoint.id, { name: "copy" });

  expect((await fork?.ps())?.map(({ command }) => command)).toContain("cat");
  expect((await fork?.exec("echo the shell answers"))?.stdout).toBe("the shell answers\n");
  await person.type("\u0004");
  await person.shows(/over\s+exit 0/);
});
