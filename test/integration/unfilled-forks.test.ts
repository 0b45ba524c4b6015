import { readdirSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { killProcess } from "../../src/base/index.ts";
import { bestOf, type Checkpoint, type Session } from "../../src/index.ts";
import { ASKED_MEMORY } from "../support/asked-memory.ts";
import { type PagesServer, pagesServersOf } from "../support/pages-servers.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const MEBIBYTE = 1024 ** 2;
const MEBIBYTES = 160;
const PAGE_BYTES = 4096;
const READ_PAGES = 8192;
/** Of a fork that has touched little, with its shell and its Python. */
const LITTLE_BYTES = 60 * MEBIBYTE;

let own: TestWaypoint;
let origin: Session;
let checkpoint: Checkpoint;

beforeAll(async () => {
  own = await openTestWaypoint({ storeBytes: 8 * 1024 ** 3 });
  origin = await own.waypoint.new({ name: "origin" });
  await origin.exec(["sh", "-c", "cat > /root/program.py"], { shell: "own", input: ASKED_MEMORY });
  // Without random addresses another program has its memory in the same place.
  await origin.exec(`setarch -R python3 /root/program.py ${MEBIBYTES} &`);
  await origin.exec("while [ ! -e /root/ready ]; do sleep 0.02; done", { shell: "own" });
  checkpoint = await origin.checkpoint({ durable: true });
});

afterEach(async () => {
  for (const { id } of await own.waypoint.sessions()) {
    if (id !== origin.id) await (await own.waypoint.session(id)).remove({ force: true });
  }
  expect(pagesServersOf(own.stateDir)).toEqual([]);
  // A dump of everything would be right whatever the server says.
  expect(readFileSync(`${own.stateDir}/daemon.log`, "utf8")).not.toMatch(
    /copied after all|filled before/,
  );
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

const waitFor = (name: string) =>
  `while [ ! -e /root/${name} ]; do sleep 0.01; done; cat /root/${name}; rm /root/${name}`;

async function ask(session: Session, what: string): Promise<string> {
  const put = `echo ${what} > /root/asked; mv /root/asked /root/ask`;
  return (await session.exec(`${put}; ${waitFor("answer")}`, { shell: "own" })).stdout;
}

async function askChild(session: Session): Promise<string> {
  const put = "touch /root/ask-child";
  return (await session.exec(`${put}; ${waitFor("answer-child")}`, { shell: "own" })).stdout;
}

async function forkOf(from: Checkpoint, throwaway = true): Promise<Session> {
  const [session] = await from.fork(1, { throwaway });
  return session as Session;
}

const untilFull = (session: Session) =>
  eventually(
    "all memory",
    () => isFilling(session),
    (filling) => !filling,
  );

const isFilling = async (session: Session) => (await session.info()).filling;

/** Returns how much CRIU copied in the pause of the last checkpoint of a session that was not full. */
function copiedLast(): number {
  const log = readFileSync(`${own.stateDir}/daemon.log`, "utf8");
  const [, bytes] = [...log.matchAll(/"copiedBytes":(\d+)/g)].at(-1) ?? [];
  return Number(bytes);
}

function serversOf(session: Session): PagesServer[] {
  return pagesServersOf(own.stateDir).filter(({ instance }) =>
    instance.startsWith(`${session.id}-`),
  );
}

test("a throw-away fork gets what it touches alone, while a kept one is filled", async () => {
  const thrown = await forkOf(checkpoint);
  const kept = await forkOf(checkpoint, false);

  await eventually(
    "a kept fork is full",
    () => isFilling(kept),
    (is) => !is,
    60_000,
  );

  const { filling, memoryBytes } = await thrown.info();
  expect(filling).toBe(true);
  expect(memoryBytes).toBeLessThan(LITTLE_BYTES);
  expect((await kept.info()).memoryBytes).toBeGreaterThan(MEBIBYTES * MEBIBYTE);
  expect(await ask(thrown, "check")).toBe("0 wrong");
});

test("others find a program of a throw-away fork by its words and variables", async () => {
  const session = await forkOf(checkpoint);
  const found =
    "pid=$(pgrep -f /root/[p]rogram.py); tr '\\0' '\\n' < /proc/$pid/environ; ps -o args= -p $pid";

  const { stdout, exitCode } = await session.exec(found, { shell: "own" });

  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^HOME=/m);
  expect(stdout).toMatch(/^python3 \/root\/program\.py 160$/m);
  expect(await isFilling(session)).toBe(true);
});

test("sixteen throw-away forks that read and write a little answer, and take little", async () => {
  const forks = await checkpoint.fork(16, { throwaway: true });

  await Promise.all(forks.map((session) => ask(session, "write 1000 1100 7")));

  for (const session of forks) {
    expect((await session.info()).memoryBytes).toBeLessThan(LITTLE_BYTES);
  }
  expect(await ask(forks[15] as Session, "check")).toBe("0 wrong");
});

test("a throw-away fork that is kept gets all of its memory, and the other one does not", async () => {
  const one = await forkOf(checkpoint);
  const other = await forkOf(checkpoint);
  await ask(one, "write 100 200 3");

  const { leftBytes, session } = await one.keep();

  expect(leftBytes).toBeGreaterThan(MEBIBYTES * MEBIBYTE - LITTLE_BYTES);
  expect(session).toMatchObject({ name: one.name, filling: true });
  await untilFull(one);
  expect((await one.keep()).leftBytes).toBe(0);
  expect(await ask(one, "check")).toBe("0 wrong");
  expect(await isFilling(other)).toBe(true);
  expect((await other.info()).memoryBytes).toBeLessThan(LITTLE_BYTES);
});

test("the fork of the strategy that won gets all of its memory", async () => {
  const write = (mark: number) => (session: Session) => ask(session, `write 100 200 ${mark}`);
  const { session } = await bestOf(checkpoint, [write(1), write(2)], { score: () => 1 });

  await untilFull(session);

  expect(await ask(session, "check")).toBe("0 wrong");
});

test.each(["in memory", "in the store"])(
  "a checkpoint of a fork that is not full has every page, with its reference %s",
  async (where) => {
    const parent = await forkOf(checkpoint, false);
    await ask(parent, "write 0 1 1");
    // Its images are in memory until they were copied.
    const from = await parent.checkpoint({ durable: where === "in the store" });
    const session = await forkOf(from);
    await ask(session, "write 2000 2300 5");
    await ask(session, `read 10000 ${10_000 + READ_PAGES}`);

    const taken = await session.checkpoint();

    expect(await isFilling(session)).toBe(true);
    expect((await session.info()).memoryBytes).toBeLessThan(LITTLE_BYTES);
    expect(copiedLast()).toBeLessThan(READ_PAGES * PAGE_BYTES);
    expect(taken.info.memoryBytes).toBeGreaterThan(MEBIBYTES * MEBIBYTE);
    const copy = await forkOf(taken);
    await session.remove({ force: true });
    expect(await ask(copy, "check")).toBe("0 wrong");
  },
);

test.each([
  {
    does: "drops and moves",
    // What is moved to where something else was is the image's page of neither.
    steps: [
      ["read 31000 31500", "read 33000 33100", "cover 31000 32000 33000"],
      ["drop 100 4000", "write 3000 3100 1", "drop 20000 30000"],
      ["read 5000 5500", "move 5000 9000", "write 6000 6010 2", "drop 8000 8500"],
      ["move 5500 7000", "drop 30000 30010", "cover 34000 35000 36000"],
    ],
  },
  {
    does: "shares with a child",
    // In a tree with two such processes all memory is there at once.
    steps: [
      ["drop 100 4000"],
      ["read 9000 12000", "move 5000 9000", "child", "write 10000 10500 3", "drop 12000 12100"],
    ],
  },
  // Its memory is where that of the program before was, and empty.
  { does: "leaves for another program", steps: [["rerun", "write 20000 20010 4"]] },
])("what a program $does is right in the next checkpoint", async ({ steps }) => {
  let session = await forkOf(checkpoint);
  for (const step of steps) {
    expect(await isFilling(session)).toBe(true);
    for (const what of step) await ask(session, what);
    const taken = await session.checkpoint();
    const copy = await forkOf(taken);
    if (step.includes("child")) expect(await askChild(copy)).toBe("0 wrong");
    expect(await ask(copy, "check")).toBe("0 wrong");
    await copy.remove({ force: true });
    // The next one comes from an image that was put together.
    const next = await forkOf(taken);
    await session.remove({ force: true });
    session = next;
  }
});

test.each([
  { who: "the server", victims: ({ server }: PagesServer) => [server] },
  {
    who: "the server and its keeper",
    victims: ({ keeper, server }: PagesServer) => [keeper, server],
  },
])("when $who dies a fork goes back to its last checkpoint", async ({ victims }) => {
  const session = await forkOf(checkpoint);
  await ask(session, "write 50 60 9");
  const taken = await session.checkpoint();
  await ask(session, "write 70 80 9");

  for (const server of serversOf(session)) {
    for (const pid of victims(server)) if (pid !== null) killProcess(pid);
  }

  const { operations } = await eventually(
    "a restore",
    () => own.waypoint.log(),
    ({ operations: all }) =>
      all.some((each) => each.kind === "recover" && each.session === session.id),
    60_000,
  );
  const recovery = operations.find(
    ({ kind, session: id }) => kind === "recover" && id === session.id,
  );
  expect(recovery?.checkpoint).toBe(taken.id);
  expect(await session.info()).toMatchObject({ state: "running", filling: false });
  expect(await ask(session, "check")).toBe("0 wrong");
});

test.each([
  { when: "while it is restored", isThere: () => true },
  { when: "while its command runs", isThere: () => hasProcess("sleep 1.618") },
])(
  "a verification whose server and keeper die $when sees all memory all the same",
  async (sample) => {
    const check = `sleep 1.618; echo check > /root/asked; mv /root/asked /root/ask; ${waitFor("answer")}`;
    const running = checkpoint.verify(check);
    const found = await eventually(
      "a pages server",
      () => pagesServersOf(own.stateDir)[0],
      (each) => each?.server != null && sample.isThere(),
      60_000,
    );
    for (const pid of [found?.keeper, found?.server]) if (pid != null) killProcess(pid);

    expect((await running).output).toBe("0 wrong");
  },
);

function hasProcess(commandLine: string): boolean {
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return (
        readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").join(" ").trim() === commandLine
      );
    } catch {
      return false; // It has ended.
    }
  });
}
