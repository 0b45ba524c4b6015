import type { MomentPair, ReadContext } from "../../moment/index.ts";
import {
  type BothFiles,
  type FoundChanges,
  findFileChanges,
  MomentFiles,
} from "../../moment/index.ts";

/** The file changes of a pair, and its files. Dispose of it when no entry is read any more. */
export interface SharedFileChanges extends Disposable {
  changes: Promise<FoundChanges>;
  files: BothFiles;
}

interface Shared extends SharedFileChanges {
  users: number;
}

const sharedByPair = new WeakMap<MomentPair, Shared>();

/**
 * Returns the file changes of a pair: found once for all readers that use them at the same time.
 *
 * The trees stay open until the last of them has disposed of its share; one that was given up reads
 * on for a moment and must not find another's files in their place.
 */
export function shareFileChanges(pair: MomentPair, context: ReadContext): SharedFileChanges {
  const shared = sharedByPair.get(pair) ?? find(pair, context);
  shared.users += 1;
  let isDisposed = false;
  return {
    changes: shared.changes,
    files: shared.files,
    [Symbol.dispose]: () => {
      if (isDisposed) return;
      isDisposed = true;
      shared.users -= 1;
      if (shared.users === 0) shared[Symbol.dispose]();
    },
  };
}

function find(pair: MomentPair, context: ReadContext): Shared {
  const files = { from: new MomentFiles(pair.from), to: new MomentFiles(pair.to) };
  // The search itself is a user: it goes on when those who wait for it were told to give up.
  const shared: Shared = {
    users: 1,
    files,
    changes: findFileChanges(pair, context, files),
    [Symbol.dispose]: () => {
      sharedByPair.delete(pair);
      for (const side of [files.from, files.to]) side[Symbol.dispose]();
    },
  };
  const settle = () => {
    shared.users -= 1;
    if (shared.users === 0) shared[Symbol.dispose]();
  };
  shared.changes.then(settle, settle);
  sharedByPair.set(pair, shared);
  return shared;
}
