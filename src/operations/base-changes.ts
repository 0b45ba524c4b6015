import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fromText, isAtOrBelow } from "../base/index.ts";
import { isLiveBase } from "../engine/moment/index.ts";
import type { Engine } from "../engine/ports/index.ts";
import { resolveCheckpoint } from "../portable/lineage/index.ts";
import type { OperationOutput, OperationParsedInput } from "../shared/protocol/index.ts";

/**
 * Returns which files of a checkpoint's live base have changed since, or how many where the time is short.
 *
 * @throws CHECKPOINT_NOT_FOUND | REFERENCE_AMBIGUOUS | TOOL_FAILED | CANCELLED
 */
export async function tellBaseChanges(
  { checkpoint: reference, path: below, waitMs }: OperationParsedInput<"base.changes">,
  engine: Engine,
  signal: AbortSignal,
): Promise<OperationOutput<"base.changes">> {
  const checkpoint = resolveCheckpoint(reference, engine.catalog);
  const { id, base } = checkpoint;
  const isCount = waitMs !== undefined;
  const known = await soon(engine.baseChanges.since(checkpoint, !isCount), waitMs, signal);
  const all = known?.files ?? [];
  const changed = below === undefined ? all : all.filter((each) => isBelow(each.path, below));
  return {
    ...{ checkpoint: id, base, isLive: isLiveBase(base) },
    count: known === null ? 0 : known === undefined ? null : changed.length,
    isComplete: known?.isComplete ?? true,
    files: isCount
      ? []
      : changed.map(({ path, changedAtMs, sizeBytes }) => {
          return { path, changedAt: new Date(changedAtMs).toISOString(), sizeBytes };
        }),
    asOf: known ? new Date(known.asOfMs).toISOString() : null,
  };
}

function isBelow(each: string, directory: string): boolean {
  return isAtOrBelow(fromText(each), fromText(path.posix.join("/", directory)));
}

/** Resolves to `undefined` where it takes longer than there is time; the search goes on. */
async function soon<T>(
  found: Promise<T>,
  waitMs: number | undefined,
  signal: AbortSignal,
): Promise<T | undefined> {
  using ended = abortedWith(signal);
  if (waitMs === undefined) return await Promise.race([found, ended.promise]);
  const late = delay(waitMs, undefined, { ref: false });
  // Whoever no longer waits does not hear how it ended.
  found.catch(() => {});
  return await Promise.race([found, late, ended.promise]);
}

function abortedWith(signal: AbortSignal): { promise: Promise<never> } & Disposable {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  const onAbort = () => reject(signal.reason as Error);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  return { promise, [Symbol.dispose]: () => signal.removeEventListener("abort", onAbort) };
}
