import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { killDaemon } from "../support/crash-model.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Sets and starts what people's start-up files do, and something before each prompt. */
const BASHRC = `
export FROM_BASHRC=1 EDITOR=vi
export PATH=$PATH:/opt/own/bin
greet () { echo hello; }
sleep 4711 & disown
python3 -m http.server 8471 --bind 127.0.0.1 >/dev/null 2>&1 & disown
[[ -z $BASH_ENV ]] || . "$BASH_ENV"
until { : </dev/tcp/127.0.0.1/8471; } 2>/dev/null; do sleep 0.01; done
PROMPT_COMMAND='sleep 0.01; /bin/true'
cd /usr
`;

const NOTHING = {
  ...{ env: [], functions: [], started: [], ended: [], opened: [], connections: [] },
  ...{ cwd: { before: "/usr", after: "/usr" }, unknown: [] },
};

let home: string;
let own: TestWaypoint;

beforeAll(async () => {
  home = mkdtempSync(path.join(os.tmpdir(), "waypoint-home-"));
  writeFileSync(path.join(home, ".bashrc"), BASHRC);
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

/** Starts a session whose shell reads the start-up file above. */
function begin(name: string, env: Record<string, string> = {}): Promise<Session> {
  const binds = [{ source: home, target: "/srv", readOnly: false }];
  return own.waypoint.new({
    name,
    net: "none",
    binds,
    env: { HOME: "/srv", WAYPOINT_STARTUP_FILES: "on", ...env },
  });
}

/** What a checkpoint tells of its shell and its programs. */
async function toldBy(checkpoint: Checkpoint) {
  const { env, functions, cwd, processes, ports, connections, unknown } = (await checkpoint.show())
    .changes;
  return {
    env: env?.map(({ name, before }) => [name, before]),
    functions: functions?.map(({ name }) => name),
    started: processes?.started.map(({ command }) => command),
    ended: processes?.ended.map(({ command }) => command),
    opened: ports?.opened.map(({ port }) => port),
    connections: connections?.opened,
    cwd,
    unknown: Object.keys(unknown),
  };
}

test("the first checkpoint tells nothing of what the start-up files did", async () => {
  const session = await begin("untouched");

  expect(await toldBy(await session.checkpoint())).toEqual(NOTHING);
  expect((await session.exec("greet; echo $FROM_BASHRC")).stdout).toBe("hello\n1\n");
});

test("the first checkpoint tells what was done, and alone that", async () => {
  const session = await begin("used");
  const line = "export X=1 EDITOR=ed; unset -f greet; other () { :; }; pkill -f 'slee[p] 4711'";
  await session.exec(`${line}; sleep 4712 & disown; cd /`);

  const told = await toldBy(await session.checkpoint());

  expect(told).toEqual({
    ...NOTHING,
    env: [
      ["EDITOR", "vi"],
      ["X", null],
    ],
    functions: ["greet", "other"],
    started: ["sleep 4712"],
    cwd: { before: "/usr", after: "/" },
  });
});

test("a fork's first checkpoint, and one after a restore, are told from their parents", async () => {
  const session = await begin("branches");
  await session.exec("export X=1");
  const first = await session.checkpoint();
  const [fork] = await own.waypoint.fork(first);

  await fork?.exec("export Y=1");
  const ofFork = fork === undefined ? undefined : await toldBy(await fork.checkpoint());
  await session.exec("export Z=1");
  await session.restore(first);
  await session.exec("export V=1");
  const restored = await toldBy(await session.checkpoint());

  expect(ofFork).toEqual({ ...NOTHING, env: [["Y", null]] });
  expect(restored).toEqual({ ...NOTHING, env: [["V", null]] });
});

test("what somebody does before `new` has answered is told", async () => {
  writeFileSync(path.join(home, "slow"), "until [ -e /srv/go ]; do sleep 0.01; done\n");
  const creating = begin("hasty", { BASH_ENV: "/srv/slow" });
  const seen = await eventually(
    "the session",
    () => own.waypoint.session("hasty").catch(() => null),
    (found) => found !== null,
  );

  const early = seen?.exec("export EARLY=1");
  await seen?.exec("touch /srv/go", { shell: "own" });
  await early;
  const { changes } = await (await (await creating).checkpoint()).show();

  // What was there when it came is told as well: of such a session no start is noted.
  const names = changes.env?.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["EARLY", "FROM_BASHRC"]));
});

test("a daemon that was killed before the first checkpoint has not lost the start", async () => {
  const session = await begin("survivor");
  await session.exec("export X=1");
  await killDaemon(await own.daemonPid());

  const told = await toldBy(await session.checkpoint());

  expect(told).toEqual({ ...NOTHING, env: [["X", null]] });
});
