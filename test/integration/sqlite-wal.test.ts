import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Of ten checkpoints, three restores and a fork each. */
const ROUNDS = Number(process.env["WAYPOINT_WAL_ROUNDS"] ?? 5);
const CHECKPOINTS_PER_ROUND = 10;
const RESTORES_PER_ROUND = 3;
const WRITERS = 3;

/** Commits one row after the other, and writes down each one when its commit has returned. */
const WRITER = `import os, sqlite3, sys, time
number = int(sys.argv[1])
try:
    base = sqlite3.connect("/wal/wal.db", timeout=60, isolation_level=None)
    base.execute("pragma wal_autocheckpoint=20")
    log = os.open("/wal/log.%d" % number, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    row = 0
    while True:
        base.execute("begin immediate")
        base.execute("insert into rows values (?, ?, ?)", (number, row, "%d " % row * 40))
        base.execute("commit")
        os.write(log, b"%d\\n" % row)
        row += 1
        time.sleep(0.002)
except BaseException as error:
    open("/wal/errors", "a").write("%d: %r\\n" % (number, error))
`;

const MAKE = `import sqlite3
base = sqlite3.connect("/wal/wal.db")
base.execute("pragma journal_mode=wal")
base.execute("create table rows(writer int, row int, filling text, primary key (writer, row))")
`;

/** One more process that opens the database: says what is wrong with it, and the last rows. */
const LOOK = `import json, sqlite3
def logged(number): return [int(line) for line in open("/wal/log.%d" % number).read().split()]
logs = [logged(number) for number in range(${WRITERS})]
base = sqlite3.connect("/wal/wal.db", timeout=60)
wrong = []
for number, log in enumerate(logs):
    there = [row for row, in base.execute("select row from rows where writer = ? order by row", (number,))]
    if log != list(range(len(log))): wrong.append("log %d has a gap" % number)
    if there != list(range(len(there))): wrong.append("rows of %d have a gap" % number)
    if len(there) < len(log): wrong.append("%d: %d rows of %d" % (number, len(there), len(log)))
integrity = base.execute("pragma integrity_check").fetchall()
if integrity != [("ok",)]: wrong.append(repr(integrity))
mode, = base.execute("pragma journal_mode").fetchone()
if mode != "wal": wrong.append(mode)
print(json.dumps({"wrong": wrong, "committed": [len(log) for log in logs]}))
`;

interface Look {
  wrong: string[];
  /** How many rows each writer knows to be committed. */
  committed: number[];
}

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

const run = async (session: Session, command: string) => {
  const { exitCode, stdout, stderr } = await session.exec(command, { shell: "own" });
  if (exitCode !== 0) throw new Error(`${command} ended with ${exitCode}: ${stderr}`);
  return stdout;
};

async function startWriters(): Promise<Session> {
  const session = await own.waypoint.new();
  await run(session, "mkdir /wal");
  await session.exec(["tee", "/wal/writer.py"], { shell: "own", input: WRITER });
  await session.exec(["tee", "/wal/look.py"], { shell: "own", input: LOOK });
  await run(session, `/usr/bin/python3 -c '${MAKE}'`);
  for (let number = 0; number < WRITERS; number += 1)
    await session.exec(`/usr/bin/python3 /wal/writer.py ${number} &`);
  await eventually(
    "all to write",
    () => session.exec("find /wal -name 'log.*' -size +0 | wc -l", { shell: "own" }),
    ({ stdout }) => Number(stdout) === WRITERS,
  );
  return session;
}

/** Opens the database in another process; throws where something is not as it must be. */
async function lookAt(session: Session, atLeast: readonly number[]): Promise<number[]> {
  const { wrong, committed } = JSON.parse(
    await run(session, "/usr/bin/python3 /wal/look.py"),
  ) as Look;
  expect(wrong).toEqual([]);
  expect(await run(session, "cat /wal/errors 2>/dev/null || true")).toBe("");
  for (const [writer, rows] of committed.entries())
    expect(rows).toBeGreaterThanOrEqual(atLeast[writer] ?? 0);
  return committed;
}

/** All writers are at work: each has committed more than that. */
async function untilMore(session: Session, than: readonly number[]): Promise<void> {
  await eventually(
    "all writers to go on",
    () => lookAt(session, than),
    (now) => now.every((rows, writer) => rows > (than[writer] ?? 0)),
  );
}

test("three processes write one WAL database through checkpoints, restores and forks", async () => {
  const session = await startWriters();
  const taken: { checkpoint: Checkpoint; committed: number[] }[] = [];
  let restores = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let index = 0; index < CHECKPOINTS_PER_ROUND; index += 1) {
      const committed = await lookAt(session, []);
      taken.push({ checkpoint: await session.checkpoint(), committed });
      if (index % Math.floor(CHECKPOINTS_PER_ROUND / RESTORES_PER_ROUND) !== 2) continue;
      const target = taken[(restores * 7) % taken.length];
      if (target === undefined) throw new Error("no checkpoint was taken");
      await session.restore(target.checkpoint);
      restores += 1;
      await untilMore(session, target.committed);
    }
    const target = taken.at(-(1 + (round % CHECKPOINTS_PER_ROUND)));
    const [fork] = (await target?.checkpoint.fork()) ?? [];
    if (fork === undefined || target === undefined) throw new Error("no fork was made");
    await untilMore(fork, target.committed);
    await fork.remove({ force: true });
  }
  await untilMore(session, await lookAt(session, []));

  expect(taken).toHaveLength(ROUNDS * CHECKPOINTS_PER_ROUND);
  expect(restores).toBe(ROUNDS * RESTORES_PER_ROUND);
}, 3_600_000);
