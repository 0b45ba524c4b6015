import type { StreamClient } from "../engine/ports/index.ts";

/**
 * Undoes what was done for a client that has gone, or does not want it any more.
 *
 * @throws CANCELLED  it was undone.
 */
export async function undoIfGone(
  { cancelled }: Pick<StreamClient, "cancelled">,
  undo: () => Promise<unknown>,
): Promise<void> {
  if (!cancelled.aborted) return;
  await undo();
  cancelled.throwIfAborted();
}
