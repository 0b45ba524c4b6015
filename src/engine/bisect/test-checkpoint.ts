import type { CheckpointRow } from "../../portable/model/index.ts";
import { toWaypointError, type WaypointError } from "../../shared/errors/index.ts";
import type { FullVerification } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import { keepVerification, runInFork } from "../verify/index.ts";
import { judge } from "./judge.ts";
import type { Verdict } from "./search.ts";

/** How the command is run at each checkpoint. */
export interface TestRequest {
  command: readonly string[];
  timeoutMs: number;
  timeoutMeans: "bad" | "skip";
  /** Whether good and bad are kept beside the checkpoint; a skip is no verdict and never is. */
  record: boolean;
}

/** What became of a checkpoint. */
export type Tested =
  | { kind: "told"; verdict: Verdict; verification: FullVerification; isReused: boolean }
  /** The command could not be run here; elsewhere it may. */
  | { kind: "failed"; error: WaypointError }
  /** The checkpoint was removed meanwhile. */
  | { kind: "gone" }
  /** Its result was not needed any more. */
  | { kind: "cancelled" };

/** Ways to fail that have nothing to do with the checkpoint: the search cannot go on. */
const FATAL: readonly string[] = ["CANCELLED", "INTERNAL", "STORE_FULL", "BISECT_STOPPED"];

/**
 * Runs the command in a throw-away fork of a checkpoint.
 *
 * @throws CANCELLED | BISECT_STOPPED | STORE_FULL | INTERNAL
 */
export async function testCheckpoint(
  checkpoint: CheckpointRow,
  request: TestRequest,
  signals: { unneeded: AbortSignal; gone: AbortSignal },
  engine: Engine,
): Promise<Tested> {
  const { command, timeoutMs, timeoutMeans, record } = request;
  const signal = AbortSignal.any([signals.unneeded, signals.gone]);
  try {
    const verification = await runInFork(
      checkpoint,
      { command, timeoutMs, signal, by: "bisect" },
      engine,
    );
    const verdict = judge(checkpoint, verification, timeoutMeans);
    if (record && verdict !== "skip") await keepVerification(checkpoint.id, verification, engine);
    return { kind: "told", verdict, verification, isReused: false };
  } catch (thrown) {
    const error = toWaypointError(thrown);
    const { code } = error;
    const isUnneeded = signals.unneeded.aborted && !signals.gone.aborted;
    if (isUnneeded && code === "CANCELLED") return { kind: "cancelled" };
    if (code === "CHECKPOINT_NOT_FOUND") return { kind: "gone" };
    if (FATAL.includes(code)) throw error;
    return { kind: "failed", error };
  }
}
