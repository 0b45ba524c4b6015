import type { CheckpointRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { BisectTest, OperationOutput } from "../../shared/protocol/index.ts";
import { describeCheckpoint } from "../checkpoint/index.ts";
import type { Engine } from "../ports/index.ts";
import type { Search } from "./search.ts";
import type { Tested } from "./test-checkpoint.ts";

/** What a search has come to. */
export interface Outcome {
  path: readonly CheckpointRow[];
  search: Search;
  rounds: number;
  forks: number;
  reused: number;
  /** Why a checkpoint said nothing, by its id. */
  skipped: ReadonlyMap<string, string>;
}

/** Returns the answer. @throws CHECKPOINT_NOT_FOUND  the first bad one was removed meanwhile. */
export function describeResult(
  { path, search, skipped, ...counts }: Outcome,
  engine: Engine,
): OperationOutput<"bisect"> {
  const idAt = (place: number) => (path[place] as CheckpointRow).id;
  const candidates = search.candidates.map(idAt);
  const [only] = candidates;
  const isFound = candidates.length === 1 && only !== undefined;
  return {
    firstBad: isFound ? describeFirstBad(only, engine) : null,
    candidates,
    lastGood: idAt(search.good),
    checkpoints: path.length - 1,
    ...counts,
    skipped: [...skipped].map(([checkpoint, reason]) => ({ checkpoint, reason })),
  };
}

function describeFirstBad(id: string, { catalog }: Engine) {
  const row = catalog.checkpoint(id);
  if (row === undefined) throw wasRemoved(id);
  const verification = catalog.verifications.verdicts({ checkpoint: id }).get(id);
  return describeCheckpoint(row, { story: catalog.stories.of(id), verification });
}

/** The search has lost something that it stands on. */
export function wasRemoved(id: string): WaypointError {
  return new WaypointError(
    "CHECKPOINT_NOT_FOUND",
    `Checkpoint ${id} was removed while the first bad one was looked for.`,
    { hint: "`waypoint log` lists the checkpoints." },
  );
}

/** Returns what is told of one result; `null` of one that was given up. */
export function describeTest(
  round: number,
  { id, name }: CheckpointRow,
  tested: Tested,
): BisectTest | null {
  const event = { event: "test", round, checkpoint: id, name } as const;
  if (tested.kind === "cancelled") return null;
  if (tested.kind === "told") {
    const { verdict, isReused, verification } = tested;
    return { ...event, verdict, isReused, verification, error: null };
  }
  const { code, message, hint } = tested.kind === "gone" ? wasRemoved(id) : tested.error;
  const error = { code, message, hint };
  return { ...event, verdict: "skip", isReused: false, verification: null, error };
}
