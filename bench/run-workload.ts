import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { NotMeasured } from "./measuring/not-measured.ts";
import { runRested } from "./measuring/rested.ts";
import { runInTurn } from "./measuring/run-in-turn.ts";
import { WarmMemory } from "./measuring/warm-memory.ts";
import { compile } from "./programs/program.ts";
import { toLine, type WorkloadResult } from "./report/results.ts";
import type { Workload } from "./workloads/workload.ts";

const WARM_UP_ROUNDS = 1;
const WARM_MEBIBYTES = 256;
/** For one contender: some take a hundred times as long as others for the same work. */
const BUDGET_MS = { quick: 15_000, full: 120_000 };

/**
 * Measures one workload.
 *
 * **On failure** of one contender the others go on, and the result says so. All that was started
 * has ended in any case.
 */
export async function runWorkload(
  workload: Workload,
  options: {
    isFull: boolean;
    mebibytes: number;
    agedMinutes: number;
    rounds: number | undefined;
    /** Measures each workload at the pace of use, too. */
    restSeconds: number | undefined;
    say: (what: string) => void;
    signal: AbortSignal;
  },
): Promise<WorkloadResult> {
  const { name, title } = workload;
  const result: WorkloadResult = { name, title, lines: [], notMeasured: [] };
  const skip = (contender: string, reason: string) =>
    result.notMeasured.push({ contender, reason });
  const { quick, full } = workload.rounds;
  // One that only a full run has was asked for by its name.
  const rounds = options.rounds ?? (options.isFull || quick === 0 ? full : quick);
  const warmUpRounds = workload.withoutWarmUp === true ? 0 : WARM_UP_ROUNDS;
  options.signal.throwIfAborted();
  await using stack = new AsyncDisposableStack();
  const buildDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-bench-build-"));
  stack.defer(() => rmSync(buildDir, { recursive: true }));
  try {
    options.say(`${name}: preparing`);
    const ticker = await compile("ticker", buildDir);
    const { isFull, mebibytes, agedMinutes } = options;
    const memory = new WarmMemory(await compile("warm", buildDir), buildDir);
    const [first, again, faults]: [number[], number[], number[]] = [[], [], []];
    const warmMebibytes = workload.warmMebibytes?.(options) ?? WARM_MEBIBYTES;
    const context = { isFull, mebibytes, agedMinutes, stack, buildDir, ticker, skip };
    const contenders = await workload.prepare(context);
    const failed = new Set<unknown>();
    const common = {
      ...{ rounds, signal: options.signal },
      budgetMs: options.isFull ? BUDGET_MS.full : BUDGET_MS.quick,
      onFailure: (contender: { name: string }, error: unknown) => {
        failed.add(contender);
        skip(contender.name, `it failed: ${firstLine(error)}`);
      },
    };
    const series = await runInTurn(contenders, {
      ...{ ...common, warmUpRounds },
      beforeEach: async () => {
        const { firstMs, againMs, faultsMs } = await memory.touch(warmMebibytes);
        first.push(firstMs);
        again.push(againMs);
        faults.push(faultsMs);
      },
      onRound: (round) =>
        options.say(`${name}: ${round < 0 ? "warming up" : `round ${round + 1} of ${rounds}`}`),
    });
    const restSeconds = options.restSeconds ?? workload.restSeconds;
    if (restSeconds !== undefined) {
      const sound = contenders.filter((contender) => !failed.has(contender));
      const onRound = (round: number) =>
        options.say(`${name}: round ${round + 1}, after ${restSeconds} s of rest`);
      series.push(...(await runRested(sound, { ...common, restSeconds, onRound })));
    }
    const machine = [
      { contender: "the machine", figure: "1 GiB of memory touched", values: first },
      { contender: "the machine", figure: "the same, once more", values: again },
      { contender: "the machine", figure: "1,000 page faults", values: faults },
    ];
    result.lines = [...series, ...machine].map(toLine).filter(({ count }) => count > 0);
  } catch (error) {
    if (!(error instanceof NotMeasured)) throw error;
    skip("all", error.message);
  }
  return result;
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split("\n")[0] ?? "";
}
