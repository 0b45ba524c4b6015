import type { Contender } from "../measuring/contender.ts";
import { NotMeasured } from "../measuring/not-measured.ts";

/** What a workload gets from the run. */
export interface WorkloadContext {
  isFull: boolean;
  /** How large a large program is. */
  mebibytes: number;
  /** How long a daemon is used before it is measured. */
  agedMinutes: number;
  /** Takes what has to be disposed of at the end, the last first. */
  stack: AsyncDisposableStack;
  /** Directory for what is compiled. */
  buildDir: string;
  /** The ticker, compiled. */
  ticker: Buffer;
  /** Notes that a contender cannot be measured on this machine, and why. */
  skip: (contender: string, reason: string) => void;
}

/** One situation in which contenders are compared. */
export interface Workload {
  name: string;
  title: string;
  /** How often each contender runs; no rounds: only in a full run. */
  rounds: { quick: number; full: number };
  /** How much new memory a contender may need; so much is touched before. @defaultValue 256 MiB */
  warmMebibytes?: (options: { mebibytes: number }) => number;
  /** It is measured after such a rest, too, even where nobody asks for it. */
  restSeconds?: number;
  /** A round takes minutes and is not faster the second time. */
  withoutWarmUp?: true;
  /**
   * Makes everything that the contenders need.
   *
   * @throws NotMeasured  this machine or this build cannot do it.
   */
  prepare: (context: WorkloadContext) => Promise<Contender[]>;
}

/** Returns what `prepare` made; nothing where the contender cannot be measured here. */
export async function unlessMissing(
  contender: string,
  context: WorkloadContext,
  prepare: () => Promise<Contender[]>,
): Promise<Contender[]> {
  try {
    return await prepare();
  } catch (error) {
    const [firstLine] = String(error instanceof Error ? error.message : error).split("\n");
    if (!(error instanceof NotMeasured)) console.error(error);
    context.skip(contender, firstLine ?? "unknown");
    return [];
  }
}
