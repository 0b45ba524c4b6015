import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, OperationOutput, Session } from "../../src/index.ts";
import { cutImagesShort } from "../support/run-in-daemon.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

type Diff = OperationOutput<"diff">;

const CLI = fileURLToPath(new URL("../../dist/cli.cjs", import.meta.url));
const PLAIN = { net: "none", env: { HOME: "/nonexistent" } } as const;
/** Listens at what its arguments name, and says when it does. */
const LISTENER = `
import os, socket, sys, time
held = []
for kind, family, name in (word.split("|") for word in sys.argv[2:]):
    made = socket.socket(getattr(socket, family), getattr(socket, kind))
    made.bind(name if family == "AF_UNIX" else (name.rsplit(",", 1)[0], int(name.rsplit(",", 1)[1])))
    if kind == "SOCK_STREAM": made.listen()
    held.append(made)
if sys.argv[1] == "as-daemon":
    if os.fork(): time.sleep(1000)
open("/srv/ready", "w").close()
time.sleep(1000)
`;

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "told", cwd: "/", ...PLAIN });
  await session.exec(["tee", "/srv/listener.py"], { shell: "own", input: LISTENER });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Runs a line, and returns what it changed, by checkpoint and by parent. */
async function changesOf(line: string): Promise<Diff> {
  const before = await session.checkpoint();
  expect(await session.exec(line)).toMatchObject({ exitCode: 0, stderr: "" });
  const after = await session.checkpoint();
  const { from, to, ...diff } = await own.waypoint.diff(before, after);
  expect((await after.show()).changes).toEqual(diff);
  return { from, to, ...diff };
}

function startListener(mode: string, ...sockets: string[]): string {
  const words = sockets.map((socket) => `'${socket}'`).join(" ");
  return (
    `rm -f /srv/ready; /usr/bin/python3 /srv/listener.py ${mode} ${words} >/dev/null 2>&1 & ` +
    "until [ -e /srv/ready ]; do sleep 0.02; done"
  );
}

const END_JOBS = "kill %% && wait %% 2>/dev/null; true";

/** What happened, without what differs from run to run. */
function brief({ processes, ports, connections }: Diff) {
  const commands = (found: { command: string }[] = []) => found.map(({ command }) => command);
  const places = (found: { protocol: string; address: string; port: number | null }[] = []) =>
    found.map(({ protocol, address, port }) => `${protocol} ${address} ${port}`).sort();
  return {
    started: commands(processes?.started),
    ended: commands(processes?.ended),
    opened: places(ports?.opened),
    closed: places(ports?.closed),
    connections: [connections?.opened.length, connections?.closed.length],
  };
}

const NOTHING = { started: [], ended: [], opened: [], closed: [], connections: [0, 0] };

test("what a checkpoint would bring back is told by command lines, of bounded length", async () => {
  const fresh = await own.waypoint.new({ name: "long", ...PLAIN });
  await fresh.exec("sh -c 'sleep 1000; true' $(head -c 100000 /dev/zero | tr '\\0' x) &");
  const { processes } = await (await fresh.checkpoint()).show();

  expect(processes?.map(({ pid, command }) => [pid, command.slice(0, 25)])).toEqual([
    [1, "init"],
    [2, "/bin/bash --rcfile /run/w"],
    [expect.any(Number), "sh -c sleep 1000; true xx"],
    [expect.any(Number), "sleep 1000"],
  ]);
  expect(Math.max(...(processes ?? []).map(({ command }) => command.length))).toBe(2049);
  await fresh.remove({ force: true });
});

test("the first checkpoint tells of what the session started, not of its shell", async () => {
  const fresh = await own.waypoint.new({ name: "fresh", ...PLAIN });
  const first = await fresh.checkpoint();
  await fresh.exec("sleep 1000 &");
  const live = await own.waypoint.diff(first, fresh);
  const { changes } = await first.show();

  expect(brief({ from: "", to: "", ...changes })).toEqual(NOTHING);
  expect(changes.processes?.still.map(({ command }) => command)).toEqual([
    "/bin/bash --rcfile /run/waypoint/bashrc -i",
  ]);
  expect(changes.summary).toBe("");
  expect(brief(live)).toEqual({ ...NOTHING, started: ["sleep 1000"] });
  expect(live.summary).toBe("+1 process");
  await fresh.remove({ force: true });
});

test("a server that is started and killed comes and goes with its port", async () => {
  const command = "/usr/bin/python3 -m http.server 8123";

  const started = await changesOf(
    `cd /srv; ${command} >/dev/null 2>&1 & until : </dev/tcp/127.0.0.1/8123; do sleep 0.05; done 2>/dev/null; cd /`,
  );
  const killed = await changesOf(END_JOBS);

  const opened = { ...NOTHING, started: [command], opened: ["tcp 0.0.0.0 8123"] };
  expect(brief(started)).toEqual(opened);
  expect(started.processes?.started[0]).toMatchObject({ user: "root", cwd: "/srv" });
  expect(started.processes?.started[0]?.memoryBytes).toBeGreaterThan(1024 * 1024);
  expect(started.ports?.opened[0]).toMatchObject({
    pid: started.processes?.started[0]?.pid,
    command,
  });
  expect(started.summary).toMatch(/^http\.server up on \d+$/);
  expect(brief(killed)).toEqual({ ...NOTHING, ended: [command], closed: ["tcp 0.0.0.0 8123"] });
  expect(killed.summary).toBe("http.server down");
});

test("a background job is a process, and one that goes on is still there", async () => {
  const started = await changesOf("sleep 1001 &");
  const moved = await changesOf("true");
  const ended = await changesOf(END_JOBS);

  expect(brief(started)).toEqual({ ...NOTHING, started: ["sleep 1001"] });
  expect(brief(moved)).toEqual(NOTHING);
  expect(moved.processes?.still.map(({ command }) => command)).toContain("sleep 1001");
  expect(moved.summary).toBe("");
  expect(brief(ended)).toEqual({ ...NOTHING, ended: ["sleep 1001"] });
});

test("a process of another user has that user's name, from the images and live", async () => {
  const before = await session.checkpoint();
  await session.exec("setpriv --reuid=1 --clear-groups sleep 1005 &");
  await eventually(
    "the program",
    async () => (await session.ps()).map(({ command }) => command),
    (commands) => commands.includes("sleep 1005"),
  );
  const live = await own.waypoint.diff(before, session);
  const told = await own.waypoint.diff(before, await session.checkpoint());

  for (const { processes } of [live, told]) {
    expect(processes?.started).toMatchObject([{ command: "sleep 1005", user: "daemon", cwd: "/" }]);
  }
  expect(told.processes?.started[0]?.programId).toBe(live.processes?.started[0]?.programId);
  await session.exec(END_JOBS);
});

test("ports of IPv6, UDP and unix sockets are told, of several owners the first", async () => {
  const told = await changesOf(
    startListener(
      "as-daemon",
      "SOCK_STREAM|AF_INET|127.0.0.1,7001",
      "SOCK_STREAM|AF_INET6|::1,7002",
      "SOCK_DGRAM|AF_INET|0.0.0.0,7003",
      "SOCK_STREAM|AF_UNIX|/srv/by path.sock",
      "SOCK_DGRAM|AF_UNIX|/srv/datagrams",
    ),
  );
  const live = await own.waypoint.diff((await session.checkpoint()).id, session);
  const again = await changesOf(`rm /srv/*path.sock /srv/datagrams; ${END_JOBS}`);

  const places = [
    ...["tcp 127.0.0.1 7001", "tcp ::1 7002", "udp 0.0.0.0 7003"],
    ...["unix /srv/by path.sock null", "unix /srv/datagrams null"],
  ];
  expect(brief(told).opened).toEqual(places);
  const [parent, child] = told.processes?.started ?? [];
  expect(child?.parentPid).toBe(parent?.pid);
  expect(new Set(told.ports?.opened.map(({ pid }) => pid))).toEqual(new Set([parent?.pid]));
  expect(told.summary).toMatch(/^listener\.py up on [\d and]+(, |$)/);
  expect(brief(live)).toEqual(NOTHING);
  expect(brief(again).closed).toEqual(places);
  expect(brief(again).ended).toHaveLength(2);
});

test("a server that was started again is another one at the same port", async () => {
  const start = startListener("alone", "SOCK_STREAM|AF_INET|127.0.0.1,7004");
  await session.exec(start);

  const told = await changesOf(`${END_JOBS}; ${start}`);

  expect(brief(told)).toMatchObject({
    opened: ["tcp 127.0.0.1 7004"],
    closed: ["tcp 127.0.0.1 7004"],
  });
  expect(told.summary).toMatch(/^listener\.py restarted(, |$)/);
  await session.exec(END_JOBS);
});

test("a fork and a restored session have the same processes, another program none of them", async () => {
  await session.exec("sleep 1002 &");
  const checkpoint = await session.checkpoint();
  const [fork, other] = (await checkpoint.fork(2)) as Session[] as [Session, Session];
  const same = await own.waypoint.diff(checkpoint, fork);
  for (const each of [fork, other]) await each.exec(`${END_JOBS}; sleep 1003 &`);
  const branches = await own.waypoint.diff(await fork.checkpoint(), other);

  expect(brief(same)).toEqual(NOTHING);
  expect(same.summary).toBe("");
  expect(brief(await own.waypoint.diff(checkpoint, fork))).toEqual({
    ...NOTHING,
    ...{ started: ["sleep 1003"], ended: ["sleep 1002"] },
  });
  // Each began its own, with the same number.
  expect(brief(branches)).toEqual({ ...NOTHING, started: ["sleep 1003"], ended: ["sleep 1003"] });
  expect(branches.processes?.started[0]?.pid).toBe(branches.processes?.ended[0]?.pid);
  await session.exec(END_JOBS);
  for (const each of [fork, other]) await each.remove({ force: true });
});

test("names and command lines cannot reach the terminal that prints them", async () => {
  const before = await session.checkpoint();
  await session.exec('bash -c \'exec -a "$(printf "\\033]0;owned\\007 \\377")" sleep 1004\' &');
  await eventually(
    "the program",
    async () => (await session.ps()).map(({ command }) => command).join(),
    // With the escape itself: the shell that becomes it has it spelt out.
    (commands) => commands.includes("\u001b]0;owned"),
  );
  const after = await session.checkpoint({ name: "named" });

  const diff = await waypoint("diff", before.id, after.id);
  const show = await waypoint("show", "named");

  for (const { stdout } of [diff, show]) {
    expect(stdout).toMatch(/^\+ process \d+ ␛\]0;owned␇ � 1004 {2}root, \/, \d/m);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
    expect(stdout).not.toMatch(/[\u001b\u0007]/);
  }
  expect(diff.code).toBe(1);
  await session.exec(END_JOBS);
});

test("where there are no processes the sections say why, and files are told", async () => {
  const full = await session.checkpoint();
  await session.exec("touch /srv/told");
  const files = await session.checkpoint({ filesOnly: true });
  const { changes } = await files.show();
  const below = await own.waypoint.diff(full, files, { path: "/srv" });

  expect(changes.summary).toBe("+ /srv/told");
  for (const section of ["processes", "ports", "connections", "env", "functions", "cwd"] as const) {
    expect(changes[section]).toBeNull();
    expect(changes.unknown[section]).toBe(`checkpoint ${files.id} holds files alone`);
    expect(below.unknown[section]).toBe("only what lies below a path was asked for");
  }
  const stopped = await own.waypoint.new({ name: "stopped", ...PLAIN });
  const last = await stopped.checkpoint();
  await stopped.stop();
  expect((await own.waypoint.diff(last, stopped)).unknown["processes"]).toBe(
    "session stopped is not running",
  );
});

test("an image that is cut short makes its sections unknown, and nothing else", async () => {
  const before = await session.checkpoint();
  await session.exec("touch /srv/cut");
  const after: Checkpoint = await session.checkpoint();
  await cutImagesShort(own, after);

  const told = await own.waypoint.diff(before, after);

  expect(told.unknown["processes"]).toBe("The process image core-1.img cannot be read.");
  expect(told.files?.map(({ path }) => path)).toEqual(["/srv/cut"]);
});

function waypoint(...args: string[]): Promise<{ stdout: string; code: unknown }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, "--dir", own.stateDir, ...args], (error, stdout) =>
      resolve({ stdout, code: error?.code ?? 0 }),
    );
  });
}
