import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Checkpoint, hasCode, type Session } from "../../src/index.ts";
import { cutImagesShort, listInstances } from "../support/run-in-daemon.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Puts one word where a restore must bring it back from: a shell's memory, a process, a file. */
async function remember(session: Session, word: string): Promise<void> {
  const loop = `exec -a ${word} sleep 100000`;
  await session.exec(`kill $job 2>/dev/null; word=${word}; (${loop}) & job=$!`);
  await session.exec(`echo ${word} > /root/word`);
}

/** Returns the words that the shell, the running processes and the file have. */
async function recall(session: Session): Promise<{ memory: string; file: string; jobs: string[] }> {
  const { stdout } = await session.exec("echo $word; cat /root/word");
  const [memory = "", file = ""] = stdout.split("\n");
  const processes = await session.ps();
  const jobs = processes.flatMap(({ command }) => /^(\w+) 100000$/.exec(command)?.[1] ?? []);
  return { memory, file, jobs };
}

function all(word: string) {
  return { memory: word, file: word, jobs: [word] };
}

/** What a fresh shell on a checkpoint's files knows. */
function filesOf(word: string) {
  return { memory: "", file: word, jobs: [] };
}

async function startWith(word: string): Promise<{ session: Session; checkpoint: Checkpoint }> {
  const session = await own.waypoint.new();
  await remember(session, word);
  return { session, checkpoint: await session.checkpoint() };
}

async function killFirstProcess(session: Session): Promise<void> {
  const { pid } = await session.info();
  if (pid === null) throw new Error("not running");
  process.kill(pid, "SIGKILL");
  await eventually(
    "the end of a session",
    async () => (await session.info()).state,
    (state) => state === "ended",
  );
}

describe("a restore", () => {
  test("brings back a session whose processes have all died", async () => {
    const { session, checkpoint } = await startWith("first");
    await remember(session, "second");
    await killFirstProcess(session);

    await expect(session.exec("true")).rejects.toSatisfy((error: unknown) =>
      hasCode(error, "SESSION_WRONG_STATE"),
    );
    await session.restore(checkpoint);
    expect(await recall(session)).toEqual(all("first"));

    await session.undo();
    expect(await recall(session)).toEqual(filesOf("second"));
    await session.remove({ force: true });
  });

  test("brings back a stopped session, and an undo its files as they were", async () => {
    const { session, checkpoint } = await startWith("first");
    await remember(session, "second");
    const { checkpoint: atStop } = await session.stop();
    expect((await session.info()).state).toBe("stopped");

    await session.restore(checkpoint);
    expect(await recall(session)).toEqual(all("first"));

    await session.undo();
    expect(await recall(session)).toEqual(filesOf("second"));

    await session.restore(atStop ?? "");
    expect(await recall(session)).toEqual(all("second"));
    await session.remove({ force: true });
  });

  test("can be undone, and the undo too: files and processes alike", async () => {
    const { session, checkpoint } = await startWith("first");
    await remember(session, "second");

    const { undo } = await session.restore(checkpoint);
    expect(await recall(session)).toEqual(all("first"));
    await remember(session, "third");

    expect((await session.undo()).checkpoint).toBe(undo);
    expect(await recall(session)).toEqual(all("second"));
    await session.undo();
    expect(await recall(session)).toEqual(all("third"));
    await session.undo();
    expect(await recall(session)).toEqual(all("second"));
    await session.remove({ force: true });
  });

  test("to a checkpoint of files starts a fresh shell on them; a fork of it too", async () => {
    const session = await own.waypoint.new();
    await remember(session, "first");
    const checkpoint = await session.checkpoint({ filesOnly: true });
    await remember(session, "second");
    expect(checkpoint.info).toMatchObject({ content: "files", memoryBytes: 0 });

    const [fork] = await checkpoint.fork();
    await session.restore(checkpoint);

    expect(await recall(fork as Session)).toEqual(filesOf("first"));
    expect(await recall(session)).toEqual(filesOf("first"));
    await session.undo();
    expect(await recall(session)).toEqual(all("second"));
    await (fork as Session).remove({ force: true });
    await session.remove({ force: true });
  });

  test("that fails leaves the session as it was, and nothing of its own", async () => {
    const { session, checkpoint } = await startWith("first");
    await remember(session, "second");
    const { pid } = await session.info();
    const instances = await listInstances(own);
    await cutImagesShort(own, checkpoint);

    await expect(session.restore(checkpoint)).rejects.toSatisfy(
      (error: unknown) =>
        hasCode(error, "CHECKPOINT_INCOMPLETE") || hasCode(error, "CRIU_RESTORE_FAILED"),
    );
    await expect(checkpoint.fork(2)).rejects.toThrow();

    expect((await session.info()).pid).toBe(pid);
    expect(await recall(session)).toEqual(all("second"));
    expect(await listInstances(own)).toEqual(instances);
    expect((await own.waypoint.sessions()).filter(({ forkedFrom }) => forkedFrom)).toEqual([]);
    await remember(session, "third");
    const later = await session.checkpoint();
    await session.restore(later);
    expect(await recall(session)).toEqual(all("third"));
    await session.remove({ force: true });
  });

  test("of a dead session that fails leaves it ended, to be restored from another", async () => {
    const { session, checkpoint: good } = await startWith("first");
    const bad = await session.checkpoint();
    await killFirstProcess(session);
    await cutImagesShort(own, bad);

    await expect(session.restore(bad)).rejects.toThrow();

    expect((await session.info()).state).toBe("ended");
    await session.restore(good);
    expect(await recall(session)).toEqual(all("first"));
    await session.remove({ force: true });
  });
});

describe("the removal of a session", () => {
  test("leaves its forks running, and what they need", async () => {
    const { session, checkpoint } = await startWith("first");
    const forks = await checkpoint.fork(2);
    const [one, other] = forks as Session[] as [Session, Session];

    await expect(session.remove()).rejects.toSatisfy((error: unknown) =>
      hasCode(error, "SESSION_WRONG_STATE"),
    );
    const { checkpointsKept } = await session.remove({ force: true });

    expect(checkpointsKept).toBe(1);
    await expect(own.waypoint.session(session.id)).rejects.toSatisfy((error: unknown) =>
      hasCode(error, "SESSION_NOT_FOUND"),
    );
    expect(await recall(one)).toEqual(all("first"));
    await remember(other, "other");
    await other.restore(checkpoint);
    expect(await recall(other)).toEqual(all("first"));
    const [late] = await own.waypoint.fork(checkpoint);
    expect(await recall(late as Session)).toEqual(all("first"));

    for (const fork of [one, other, late as Session]) await fork.remove({ force: true });
  });

  test("removes its processes and its files", async () => {
    const { session } = await startWith("first");
    const before = await listInstances(own);
    const processes = await session.ps();

    await session.remove({ force: true });

    expect(await listInstances(own)).toHaveLength(before.length - 1);
    expect(processes.filter(({ hostPid }) => isRunning(hostPid))).toEqual([]);
  });
});

/** A process that has ended and was not collected yet by its parent does not run. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
