import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import {
  type BisectRound,
  type BisectTest,
  type Checkpoint,
  hasCode,
  type Session,
} from "../../src/index.ts";
import { finished, runCommand, startCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { expectedHoldings, holdingsOf } from "../support/holdings.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Long enough that no test reaches its end. */
const ENDLESS = "sleep 100000";
const BUILT = 64;
const LONG = 300;

let own: TestWaypoint;
let session: Session;
/** The first is 0; checkpoint 64 is the last of those that most tests look at. */
const built: Checkpoint[] = [];

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web" });
  while (built.length <= LONG) {
    await session.exec(`echo ${built.length} > /root/n`);
    built.push(await session.checkpoint({ filesOnly: true, intent: `step ${built.length}` }));
  }
});

afterEach(async () => {
  const pid = await own.daemonPid();
  await eventually(
    "the forks to be gone",
    () => holdingsOf(own.stateDir, pid),
    (held) => {
      const expected = expectedHoldings(own.stateDir);
      const kinds = ["mounts", "networks", "inits", "instances"] as const;
      return kinds.every((kind) => JSON.stringify(held[kind]) === JSON.stringify(expected[kind]));
    },
  );
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** A command that fails from this step on. */
function failsFrom(step: number, note = ""): string {
  return `test $(cat /root/n) -lt ${step} # ${note}`;
}

function at(step: number): Checkpoint {
  return built[step] as Checkpoint;
}

async function untilForked(count: number): Promise<void> {
  const pid = await own.daemonPid();
  await eventually(
    `${count} forks`,
    () => holdingsOf(own.stateDir, pid).inits.length,
    (inits) => inits === expectedHoldings(own.stateDir).inits.length + count,
  );
}

async function codeOf(outcome: Promise<unknown>): Promise<{ code?: string; message: string }> {
  return await outcome.then(
    () => ({ message: "it did not fail" }),
    (error: { code?: string; message: string }) => error,
  );
}

test("64 checkpoints take at most seven rounds, one fork at a time, fewer with three", async () => {
  const rounds: BisectRound[] = [];
  const tests: BisectTest[] = [];
  const options = { reuse: false, onRound: (round: BisectRound) => rounds.push(round) };
  const one = await own.waypoint.bisect(at(0), at(BUILT), failsFrom(41), {
    ...options,
    concurrency: 1,
    onTest: (tested) => tests.push(tested),
  });
  const three = await own.waypoint.bisect(at(0), at(BUILT), failsFrom(41), {
    ...options,
    concurrency: 3,
  });

  expect(one).toMatchObject({
    firstBad: { id: at(41).id, intent: "step 41", changes: { summary: expect.any(String) } },
    candidates: [at(41).id],
    lastGood: at(40).id,
    checkpoints: 64,
    skipped: [],
    reused: 0,
  });
  expect(one.rounds).toBeLessThanOrEqual(7);
  expect(one.forks).toBe(one.rounds + 2);
  expect(tests).toHaveLength(one.forks);
  expect(tests.slice(0, 2).map(({ checkpoint }) => checkpoint)).toEqual([at(0).id, at(BUILT).id]);
  expect(three.firstBad?.id).toBe(at(41).id);
  expect(three.rounds).toBeLessThanOrEqual(3);
  expect(rounds).toHaveLength(one.rounds + three.rounds);
  expect(rounds.at(-1)).toMatchObject({ left: 1, good: at(40).id, bad: at(41).id });
});

test("300 checkpoints are searched by the command line, which tells what it found", async () => {
  const words = ["bisect", at(0).id, at(LONG).id, "-n", "2", "--", failsFrom(222)];

  const { stdout, exitCode } = await runCommand(own.stateDir, words);

  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/first bad one of 300 checkpoints: at most 6 rounds, 2 at once\./);
  expect(stdout).toMatch(new RegExp(`\\n${at(222).id} is the first bad checkpoint\\n {2}step 222`));
  expect(stdout).toMatch(new RegExp(`waypoint diff ${at(221).id} ${at(222).id}`));
  const rounds = Number(/(\d+) rounds, /.exec(stdout)?.[1]);
  expect(rounds).toBeLessThanOrEqual(6);
});

test("what it says is kept beside the checkpoints, and the same command reuses it", async () => {
  const command = failsFrom(5, "kept");
  const first = await own.waypoint.bisect(at(0), at(8), command);
  const again = await own.waypoint.bisect(at(0), at(8), command);
  const unrecorded = failsFrom(5, "not kept");
  await own.waypoint.bisect(at(0), at(8), unrecorded, { record: false });

  const shown = await own.waypoint.show(at(5));
  expect(first.reused).toBe(0);
  expect(again).toMatchObject({ rounds: 0, forks: 0, firstBad: { id: at(5).id } });
  expect(shown.verifications.some((each) => each.command === command)).toBe(true);
  expect(shown.verifications.some((each) => each.command === unrecorded)).toBe(false);
});

test("125 skips: the answer is any of those that could not be told apart", async () => {
  const line = "n=$(cat /root/n); [ $n -ge 4 ] && [ $n -le 6 ] && exit 125; test $n -lt 5";
  const command = `(${line})`;
  const words = ["--json", "bisect", at(0).id, at(9).id, "--", command];

  const { stdout, exitCode } = await runCommand(own.stateDir, words);

  const lines = stdout
    .trim()
    .split("\n")
    .map((each) => JSON.parse(each));
  const result = lines.at(-1);
  expect(lines[0]).toMatchObject({ event: "begin", checkpoints: 9 });
  expect(result).toMatchObject({ event: "result", firstBad: null, lastGood: at(3).id });
  expect(result.candidates).toEqual([4, 5, 6, 7].map((step) => at(step).id));
  expect(exitCode).toBe(4);
  // A skip is no verdict.
  expect((await own.waypoint.show(at(5))).verifications.map((each) => each.exitCode)).not.toContain(
    125,
  );
});

test("a good one that is bad, and a bad one that is good, are said", async () => {
  const good = await codeOf(own.waypoint.bisect(at(5), at(9), failsFrom(3)));
  const bad = await codeOf(own.waypoint.bisect(at(5), at(9), failsFrom(30)));

  expect(good.code).toBe("BISECT_GOOD_FAILS");
  expect(good.message).toContain(`exit code 1 at checkpoint ${at(5).id}`);
  expect(bad.code).toBe("BISECT_BAD_PASSES");
  expect(bad.message).toContain(at(9).id);
});

test("with trust the ends are not tried", async () => {
  const found = await own.waypoint.bisect(at(5), at(9), failsFrom(30, "trusted"), { trust: true });

  expect(found.firstBad?.id).toBe(at(9).id);
  const { verifications } = await own.waypoint.show(at(5));
  expect(verifications.map(({ command }) => command)).not.toContain(failsFrom(30, "trusted"));
});

test("a command that does not exist is called missing", async () => {
  const words = ["bisect", at(0).id, at(9).id, "--", "no-such-program", "--fast"];

  const { stderr, exitCode } = await runCommand(own.stateDir, words);
  const none = await runCommand(own.stateDir, ["bisect", at(0).id, at(9).id]);

  expect(stderr).toContain("The command is missing at checkpoint");
  expect(exitCode).toBe(12);
  expect(none.stderr).toContain("There is no command");
  expect(none.exitCode).toBe(2);
});

test("a command that a signal ends stops the search; one that takes too long is bad", async () => {
  const killed = await codeOf(own.waypoint.bisect(at(0), at(9), "(kill -9 $BASHPID)"));
  const hangs = `test $(cat /root/n) -lt 7 || ${ENDLESS}`;
  const options = { timeoutMs: 5_000, concurrency: 2 };
  const slow = await own.waypoint.bisect(at(5), at(8), hangs, options);
  const line = `test $(cat /root/n) -ne 7 || ${ENDLESS}; test $(cat /root/n) -lt 8`;
  const skipped = await own.waypoint.bisect(at(5), at(8), line, {
    ...options,
    timeoutMeans: "skip",
  });

  expect(killed).toMatchObject({ code: "BISECT_STOPPED" });
  expect(killed.message).toContain("exit code 137");
  expect(slow.firstBad?.id).toBe(at(7).id);
  expect(skipped.candidates).toEqual([at(7).id, at(8).id]);
});

test("checkpoints without a way between them are refused with what they have in common", async () => {
  const [fork] = (await own.waypoint.fork(at(10), { name: "branch" })) as [Session];
  const branched = await fork.checkpoint({ filesOnly: true });
  const other = await own.waypoint.new({ name: "other" });
  const unrelated = await other.checkpoint({ filesOnly: true });

  const apart = await codeOf(own.waypoint.bisect(at(20), branched, "true"));
  const none = await codeOf(own.waypoint.bisect(at(20), unrelated, "true"));
  const turned = await codeOf(own.waypoint.bisect(at(9), at(5), "true"));
  const same = await codeOf(own.waypoint.bisect(at(9), at(9), "true"));

  expect(apart).toMatchObject({
    code: "CHECKPOINT_NOT_ANCESTOR",
    detail: { commonAncestor: at(10).id },
  });
  expect(apart.message).toContain(at(10).id);
  expect(none.message).toContain("no ancestor in common");
  expect(turned.message).toContain("the other way round");
  expect(same.code).toBe("USAGE_INVALID");
  await fork.remove({ force: true });
  await other.remove({ force: true });
});

test("tests that nobody needs any more are given up", async () => {
  const rounds: BisectRound[] = [];
  // Only the first of the round comes to an end, and makes the three after it unneeded.
  const line = `test $(cat /root/n) -eq 1 && exit 1; ${ENDLESS}`;

  const found = await own.waypoint.bisect(at(0), at(6), `(${line})`, {
    concurrency: 4,
    trust: true,
    onRound: (round) => rounds.push(round),
  });

  expect(found.firstBad?.id).toBe(at(1).id);
  expect(rounds).toMatchObject([{ forks: 4, cancelled: 3, left: 1 }]);
});

test("a caller who leaves, and a daemon that is killed, leave no fork", async () => {
  const leaving = new AbortController();
  const options = { trust: true, concurrency: 3 };
  const settled = codeOf(
    own.waypoint.bisect(at(0), at(BUILT), ENDLESS, { ...options, signal: leaving.signal }),
  );
  await untilForked(3);
  leaving.abort();
  expect((await settled).code).toBe("CANCELLED");
  await untilForked(0);

  const words = ["bisect", at(0).id, at(BUILT).id, "--trust", "-n", "2", "--", ENDLESS];
  const interrupted = startCommand(own.stateDir, words);
  await untilForked(2);
  interrupted.kill("SIGINT");
  await finished(interrupted);
  await untilForked(0);

  const cut = finished(startCommand(own.stateDir, words));
  await untilForked(2);
  await killDaemon(await own.daemonPid());
  expect((await cut).exitCode).not.toBe(0);
  await own.waypoint.sessions();
  await untilForked(0);
  expect((await own.waypoint.show(at(32))).verifications).toEqual(
    expect.not.arrayContaining([expect.objectContaining({ command: ENDLESS })]),
  );
});

test("a session that is removed in the middle ends the search with what was removed", async () => {
  const going = await own.waypoint.new({ name: "going" });
  const steps: Checkpoint[] = [];
  for (let step = 0; step < 4; step += 1) {
    steps.push(await going.checkpoint({ filesOnly: true }));
  }
  const [first, last] = [steps[0], steps.at(-1)] as [Checkpoint, Checkpoint];
  const outcome = own.waypoint.bisect(first, last, ENDLESS, { trust: true, concurrency: 2 });
  const settled = outcome.catch((error: unknown) => error);
  await untilForked(2);

  await going.remove({ force: true });

  expect(hasCode(await settled, "CHECKPOINT_NOT_FOUND")).toBe(true);
});
