import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { killProcess } from "../../src/base/index.ts";
import type { Checkpoint, Session } from "../../src/index.ts";
import { killDaemon } from "../support/crash-model.ts";
import { expectedHoldings, holdingsOf } from "../support/holdings.ts";
import { type PagesServer, pagesServersOf } from "../support/pages-servers.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const MEBIBYTES = 400;

/**
 * Every page holds its own number, so that none can be mistaken for another. Answers whether all
 * are right, and how often it was asked, which it counts in its memory.
 */
const PROGRAM = `import mmap, os, sys, time
PAGES = int(sys.argv[1]) * 256
page = lambda number: number.to_bytes(8, "little") * 512
memory = bytearray(PAGES * 4096)
for number in range(PAGES): memory[number * 4096:(number + 1) * 4096] = page(number)
asked = 0
# Addresses only, as databases and runtimes reserve them: more than any machine has memory.
if sys.argv[2:] == ["reserve"]: kept = mmap.mmap(-1, 1 << 43, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 0)
if sys.argv[2:] == ["child"] and os.fork() == 0:
    while True: time.sleep(1000)
open("/root/ready", "w").close()
while True:
    time.sleep(0.002)
    if not os.path.exists("/root/ask"): continue
    os.unlink("/root/ask")
    asked += 1
    wrong = sum(memory[n * 4096:(n + 1) * 4096] != page(n) for n in range(PAGES))
    open("/root/answer.new", "w").write("%d wrong, asked %d times" % (wrong, asked))
    os.rename("/root/answer.new", "/root/answer")`;

const ASK =
  "rm -f /root/answer; touch /root/ask; while [ ! -e /root/answer ]; do sleep 0.01; done; cat /root/answer";

let own: TestWaypoint;
let origin: Session;
let checkpoint: Checkpoint;

beforeAll(async () => {
  own = await openTestWaypoint({ storeBytes: 24 * 1024 ** 3 });
  origin = await start("origin", String(MEBIBYTES));
  checkpoint = await origin.checkpoint();
});

afterEach(async () => {
  for (const { id } of await own.waypoint.sessions()) {
    if (id !== origin.id) await (await own.waypoint.session(id)).remove({ force: true });
  }
  expect(pagesServersOf(own.stateDir)).toEqual([]);
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

async function start(name: string, words: string, limit?: number): Promise<Session> {
  const session = await own.waypoint.new(
    limit === undefined ? { name } : { name, memoryBytes: limit },
  );
  await session.exec(["sh", "-c", "cat > /root/program.py"], { shell: "own", input: PROGRAM });
  await session.exec(`python3 /root/program.py ${words} &`);
  await session.exec("while [ ! -e /root/ready ]; do sleep 0.02; done", { shell: "own" });
  return session;
}

const ask = async (session: Session) => (await session.exec(ASK, { shell: "own" })).stdout;
const isFilling = async (session: Session) => (await session.info()).filling;
const isWhole = (session: Session) =>
  eventually(
    "all memory",
    () => isFilling(session),
    (is) => !is,
  );

async function fork(): Promise<Session> {
  const [session] = await checkpoint.fork();
  return session as Session;
}

function serverOf(session: Session): PagesServer {
  const found = pagesServersOf(own.stateDir).find(({ instance }) =>
    instance.startsWith(`${session.id}-`),
  );
  if (found === undefined) throw new Error(`no pages server for ${session.name}`);
  return found;
}

/** Returns how often a session was restored again by itself. */
async function recoveries(session: Session): Promise<number> {
  const { operations } = await own.waypoint.log();
  return operations.filter(
    (each) =>
      each.session === session.id && each.kind === "recover" && each.checkpoint === checkpoint.id,
  ).length;
}

async function isRestoredAgain(session: Session): Promise<void> {
  await eventually(
    "a restore",
    () => recoveries(session),
    (count) => count === 1,
    30_000,
  );
  expect(await session.info()).toMatchObject({ state: "running", filling: false });
  expect(await ask(session)).toBe("0 wrong, asked 1 times");
}

test("three forks at once answer before they are whole, and every page of each is right", async () => {
  const forks = await checkpoint.fork(3);
  const early = await Promise.all(
    forks.map(async (session) => {
      const { stdout } = await session.exec("echo here");
      return { stdout, filling: await isFilling(session) };
    }),
  );
  const answers = await Promise.all(forks.map(ask));

  expect(early.map(({ stdout }) => stdout)).toEqual(["here\n", "here\n", "here\n"]);
  expect(early.some(({ filling }) => filling)).toBe(true);
  expect(answers).toEqual(forks.map(() => "0 wrong, asked 1 times"));
  await Promise.all(forks.map(isWhole));
  for (const session of forks) {
    expect((await session.info()).memoryBytes).toBeGreaterThan(MEBIBYTES * 1024 * 1024);
    expect(await recoveries(session)).toBe(0);
  }
});

test("a restore in place, and the undo of it, bring every page", async () => {
  const session = await fork();
  await ask(session);
  await session.checkpoint();

  await session.restore(checkpoint);
  expect(await ask(session)).toBe("0 wrong, asked 1 times");
  await session.undo();
  expect(await ask(session)).toBe("0 wrong, asked 2 times");
});

test("a program that has reserved more addresses than there is memory comes back", async () => {
  const reserving = await start("reserving", "100 reserve");

  const [session] = await (await reserving.checkpoint()).fork();

  expect(await ask(session as Session)).toBe("0 wrong, asked 1 times");
});

test("a checkpoint taken meanwhile has every page", async () => {
  const session = await fork();

  const taken = await session.checkpoint();
  const [copy] = await taken.fork();

  expect(taken.info.memoryBytes).toBeGreaterThan(MEBIBYTES * 1024 * 1024);
  expect(await ask(copy as Session)).toBe("0 wrong, asked 1 times");
  expect(await ask(session)).toBe("0 wrong, asked 1 times");
});

test.each([
  { who: "the server", afterMs: 0, victims: ({ server }: PagesServer) => [server] },
  { who: "the server", afterMs: 30, victims: ({ server }: PagesServer) => [server] },
  { who: "the server", afterMs: 70, victims: ({ server }: PagesServer) => [server] },
  {
    who: "both",
    afterMs: 0,
    victims: ({ keeper, server }: PagesServer) => [keeper, server],
  },
])("when $who is killed after $afterMs ms the session is restored again", async (sample) => {
  const session = await fork();
  const found = serverOf(session);
  await new Promise((resolve) => setTimeout(resolve, sample.afterMs));
  const isInTime = await isFilling(session);
  for (const pid of sample.victims(found)) if (pid !== null) killProcess(pid);

  if (isInTime) await isRestoredAgain(session);
  else expect(await ask(session)).toBe("0 wrong, asked 1 times");
  // At once it is always in time; later a quick machine may have finished.
  expect(isInTime || sample.afterMs > 0).toBe(true);
});

test("when the keeper is killed the server finishes alone", async () => {
  const session = await fork();
  killProcess(serverOf(session).keeper);

  await isWhole(session);

  expect(await ask(session)).toBe("0 wrong, asked 1 times");
  expect(await recoveries(session)).toBe(0);
});

test("when the daemon is killed meanwhile the memory still comes", async () => {
  const session = await fork();
  serverOf(session);
  await killDaemon(await own.daemonPid());

  expect(await ask(session)).toBe("0 wrong, asked 1 times");
  await isWhole(session);
  expect(await recoveries(session)).toBe(0);
});

test("when daemon and server are killed the next daemon restores the session again", async () => {
  const session = await fork();
  const { server } = serverOf(session);
  await killDaemon(await own.daemonPid());
  if (server !== null) killProcess(server);

  await isRestoredAgain(session);
});

test("a session that is removed meanwhile leaves nothing", async () => {
  const session = await fork();
  expect(await isFilling(session)).toBe(true);

  await session.remove({ force: true });

  expect(pagesServersOf(own.stateDir)).toEqual([]);
  const { images: _, criu: __, ...holds } = holdingsOf(own.stateDir, await own.daemonPid());
  expect(holds).toEqual(expectedHoldings(own.stateDir));
});

test.each([
  { what: "with room below its memory limit", words: "128", limit: 400, isLazy: true },
  { what: "near its memory limit", words: "128", limit: 168, isLazy: false },
  { what: "whose processes share memory", words: "128 child", limit: undefined, isLazy: false },
])("a session $what is restored lazily: $isLazy", async ({ words, limit, isLazy }) => {
  const session = await start("small", words, limit && limit * 1024 * 1024);
  const checkpoint = await session.checkpoint();
  // Looked for all the time: on a busy machine all memory may be there before an answer is.
  let hasServer = false;
  const look = setInterval(() => {
    hasServer ||= pagesServersOf(own.stateDir).length > 0;
  }, 2);
  const [copy] = await checkpoint.fork();
  hasServer ||= await isFilling(copy as Session);
  clearInterval(look);

  expect(hasServer).toBe(isLazy);
  expect(await ask(copy as Session)).toBe("0 wrong, asked 1 times");
  await isWhole(copy as Session);
  expect((await (copy as Session).info()).limitsHit?.memory ?? 0).toBe(0);
});

test("ten generations have every page", async () => {
  let session = await fork();
  for (let generation = 1; generation <= 10; generation += 1) {
    const taken = await session.checkpoint();
    const [next] = await taken.fork();
    const { id } = session;
    session = next as Session;
    await (await own.waypoint.session(id)).remove({ force: true });
    expect(await ask(session)).toBe(`0 wrong, asked ${generation} times`);
  }
});

test("a verification sees all memory, also when its pages server dies", async () => {
  expect((await checkpoint.verify(ASK)).output).toBe("0 wrong, asked 1 times");

  const running = checkpoint.verify(ASK);
  const found = await eventually(
    "a pages server",
    () => pagesServersOf(own.stateDir)[0],
    (each) => each?.server != null,
  );
  process.kill(found?.server ?? 0, "SIGKILL");

  expect((await running).output).toBe("0 wrong, asked 1 times");
});
