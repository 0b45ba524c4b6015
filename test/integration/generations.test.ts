import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const GENERATIONS = 20;
const CHECKPOINTS = 50;
const FORKS = 8;

/** Answers how often it was asked, which only its memory knows. */
const SERVER = `
  let count = 0;
  require("node:http")
    .createServer((_request, response) => response.end(String((count += 1))))
    .listen(3000);
`;
const ASK =
  "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:3000').read().decode())";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Counts in a variable of the shell and in a file. */
async function countUp(session: Session): Promise<void> {
  await session.exec("count=$((count+1)); echo $count >> /root/counts");
}

/** Returns what the shell has in memory and what the file says. */
async function readCounts(session: Session): Promise<{ memory: number; file: number[] }> {
  const { stdout } = await session.exec("echo $count; cat /root/counts");
  const [memory = -1, ...file] = stdout.trim().split("\n").map(Number);
  return { memory, file };
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

async function removeAll(sessions: readonly Session[]): Promise<void> {
  for (const session of sessions) await session.remove({ force: true });
}

async function forkOnce(checkpoint: Checkpoint): Promise<Session> {
  const [fork] = await checkpoint.fork();
  if (fork === undefined) throw new Error("no fork");
  return fork;
}

describe("generations", () => {
  test(`${GENERATIONS} forks of forks: each has the state of its own generation`, async () => {
    const sessions = [await own.waypoint.new()];
    for (let generation = 1; generation <= GENERATIONS; generation += 1) {
      const parent = sessions.at(-1);
      if (parent === undefined) throw new Error("no parent");
      await countUp(parent);
      sessions.push(await forkOnce(await parent.checkpoint()));
    }

    for (const [index, session] of sessions.entries()) {
      const expected = Math.min(index + 1, GENERATIONS);
      expect(await readCounts(session)).toEqual({ memory: expected, file: upTo(expected) });
    }
    await removeAll(sessions);
  });

  test(`${CHECKPOINTS} checkpoints of one session: back to any, and on from there`, async () => {
    const session = await own.waypoint.new();
    const checkpoints: Checkpoint[] = [];
    for (let number = 1; number <= CHECKPOINTS; number += 1) {
      await countUp(session);
      checkpoints.push(await session.checkpoint({ intent: `number ${number}` }));
    }

    const parents = checkpoints.map(({ info }) => info.parent);
    expect(parents).toEqual([null, ...checkpoints.slice(0, -1).map(({ id }) => id)]);
    for (const number of [1, CHECKPOINTS / 2, CHECKPOINTS]) {
      const checkpoint = checkpoints[number - 1];
      if (checkpoint === undefined) throw new Error("no checkpoint");
      await session.restore(checkpoint);
      expect(await readCounts(session)).toEqual({ memory: number, file: upTo(number) });
      await countUp(session);
      expect(await readCounts(session)).toEqual({ memory: number + 1, file: upTo(number + 1) });
    }
    const fork = await forkOnce(checkpoints[9] as Checkpoint);
    expect(await readCounts(fork)).toEqual({ memory: 10, file: upTo(10) });
    await removeAll([fork, session]);
  });

  test(`${FORKS} forks at once: the same port in each, and each its own server`, async () => {
    const session = await own.waypoint.new();
    await session.exec(["tee", "/root/server.cjs"], { shell: "own", input: SERVER });
    await session.exec(`${process.execPath} /root/server.cjs &`);
    const ask = async (asked: Session) => {
      const { stdout } = await asked.exec(["/usr/bin/python3", "-c", ASK], { shell: "own" });
      return Number(stdout);
    };
    await eventually(
      "a server that answers",
      () => ask(session),
      (count) => count > 0,
    );
    const before = await ask(session);
    const checkpoint = await session.checkpoint();
    const forks = await checkpoint.fork(FORKS);

    for (const [index, fork] of forks.entries()) {
      for (let times = 0; times < index; times += 1) await ask(fork);
    }
    const answers = await Promise.all(forks.map(ask));
    expect(answers).toEqual(forks.map((_, index) => before + index + 1));
    expect(await ask(session)).toBe(before + 1);
    const addresses = await Promise.all(forks.map(async (fork) => (await fork.info()).address));
    expect(new Set(addresses).size).toBe(FORKS);
    await removeAll([...forks, session]);
  });

  test("forks that are asked for at the same time get names of their own", async () => {
    const session = await own.waypoint.new();
    const checkpoint = await session.checkpoint();

    const forks = (await Promise.all([checkpoint.fork(2), checkpoint.fork(2)])).flat();

    expect(new Set(forks.map(({ name }) => name)).size).toBe(4);
    await removeAll([...forks, session]);
  });
});
