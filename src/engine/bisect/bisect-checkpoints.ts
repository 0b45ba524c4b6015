import type { CheckpointRow } from "../../portable/model/index.ts";
import type { BisectEvent, OperationOutput } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import { describeResult, describeTest, type Outcome, wasRemoved } from "./describe-result.ts";
import { requireExpected } from "./judge.ts";
import { knownResult } from "./known-results.ts";
import { runRound } from "./run-round.ts";
import { roundsMax, Search } from "./search.ts";
import { type Tested, type TestRequest, testCheckpoint } from "./test-checkpoint.ts";

/** What to look for, and how. */
export interface BisectRequest extends TestRequest {
  /** Forks at once. */
  concurrency: number;
  /** The ends are taken as they are called. */
  trust: boolean;
  /** What is recorded of the very same command counts. */
  reuse: boolean;
  /** The caller gives up. */
  signal: AbortSignal;
  /** Told of what happens, in order; what it returns is awaited. */
  tell: (event: BisectEvent) => Promise<void>;
}

/** One search under way. */
interface Run extends Outcome {
  request: BisectRequest;
  skipped: Map<string, string>;
}

/**
 * Finds the first bad checkpoint of a path whose first is good and whose last is bad.
 *
 * Each round tries so many checkpoints at once that what is left falls into equal parts; those
 * whose result is not needed any more are given up. The ends are tried in the first round. With
 * skipped ones between, the answer is each that may be it.
 *
 * **On failure**, and when the caller leaves, no fork is left; what was told and recorded stays.
 *
 * @throws BISECT_GOOD_FAILS | BISECT_BAD_PASSES | BISECT_STOPPED | CHECKPOINT_NOT_FOUND | CANCELLED
 */
export async function bisectCheckpoints(
  path: readonly CheckpointRow[],
  request: BisectRequest,
  engine: Engine,
): Promise<OperationOutput<"bisect">> {
  const search = new Search(path.length);
  const run: Run = {
    ...{ path, search, request, skipped: new Map<string, string>() },
    ...{ rounds: 0, forks: 0, reused: 0 },
  };
  await tellBegin(run);
  let ends = await takeKnown(run, engine);
  for (;;) {
    const places = [...ends, ...search.next(request.concurrency)];
    if (places.length === 0) return describeResult(outcomeOf(run), engine);
    await tryPlaces(run, places, engine);
    ends = [];
  }
}

function outcomeOf({ request: _, ...outcome }: Run): Outcome {
  return outcome;
}

async function tellBegin({ path, request }: Run): Promise<void> {
  const { concurrency, trust } = request;
  const checkpoints = path.length - 1;
  // The ends are tried even where nothing lies between them.
  const rounds = Math.max(trust ? 0 : 1, roundsMax(checkpoints, concurrency));
  await request.tell({ event: "begin", checkpoints, roundsMax: rounds, concurrency });
}

/** Takes the results that are there already; returns the ends that have to be tried. */
async function takeKnown(run: Run, engine: Engine): Promise<number[]> {
  const { path, search, request } = run;
  const isEnd = (place: number) => place === 0 || place === path.length - 1;
  const untried = new Set(request.trust ? [] : [0, path.length - 1]);
  if (!request.reuse) return [...untried];
  for (const [place, checkpoint] of path.entries()) {
    if (isEnd(place) ? !untried.has(place) : !search.isOpen(place)) continue;
    const verification = knownResult(checkpoint, request.command, engine);
    if (verification === undefined) continue;
    const verdict = verification.exitCode === 0 ? "good" : "bad";
    // An end that was something else before is tried again rather than refused.
    if (isEnd(place) && (verdict === "good") !== (place === 0)) continue;
    untried.delete(place);
    search.note(place, verdict);
    run.reused += 1;
    const tested = { kind: "told", verdict, verification, isReused: true } as const;
    const event = describeTest(0, checkpoint, tested);
    if (event !== null) await request.tell(event);
  }
  return [...untried];
}

/** One round: tries the places, some at once, and gives up those that turn out not to be needed. */
async function tryPlaces(run: Run, places: readonly number[], engine: Engine): Promise<void> {
  const { path, search, request } = run;
  run.rounds += 1;
  const isEnd = (place: number) => place === 0 || place === path.length - 1;
  const { begun, cancelled } = await runRound(places, {
    concurrency: request.concurrency,
    signal: request.signal,
    isNeeded: (place) => isEnd(place) || search.isOpen(place),
    test: (place, unneeded) => {
      const signals = { unneeded, gone: request.signal };
      return testCheckpoint(path[place] as CheckpointRow, request, signals, engine);
    },
    onTested: async (place, tested) => {
      if (isEnd(place)) requireEnd(run, place, tested);
      else await note(run, place, tested, engine);
      const event = describeTest(run.rounds, path[place] as CheckpointRow, tested);
      if (event !== null) await request.tell(event);
    },
  });
  run.forks += begun;
  await request.tell({
    event: "round",
    round: run.rounds,
    good: path[search.good]?.id as string,
    bad: path[search.bad]?.id as string,
    left: search.candidates.length,
    forks: begun,
    cancelled,
  });
}

function requireEnd({ path }: Run, place: number, tested: Tested): void {
  const checkpoint = path[place] as CheckpointRow;
  const expected = place === 0 ? "good" : "bad";
  if (tested.kind === "failed") throw tested.error;
  if (tested.kind === "gone") throw wasRemoved(checkpoint.id);
  if (tested.kind === "told") {
    requireExpected(checkpoint, { expected, verdict: tested.verdict }, tested.verification);
  }
}

async function note(run: Run, place: number, tested: Tested, engine: Engine): Promise<void> {
  const { path, search, skipped } = run;
  const { id } = path[place] as CheckpointRow;
  if (tested.kind === "told") {
    search.note(place, tested.verdict);
    if (tested.verdict === "skip") skipped.set(id, "the command skipped it");
  } else if (tested.kind === "failed") {
    search.note(place, "skip");
    skipped.set(id, tested.error.message);
  } else if (tested.kind === "gone") {
    // Without an end there is nothing to look for; without one between there is one less.
    for (const end of [path[0], path.at(-1)] as CheckpointRow[]) {
      if (engine.catalog.checkpoint(end.id) === undefined) throw wasRemoved(end.id);
    }
    search.remove(place);
    skipped.set(id, "it was removed meanwhile");
  }
}
