import { catFiles, copyFiles, copyTargetOf, grepCheckpoints } from "../engine/files/index.ts";
import type { Engine } from "../engine/ports/index.ts";
import { WaypointError } from "../shared/errors/index.ts";
import type { OperationName } from "../shared/protocol/index.ts";
import type { HandlersOf } from "./operation-handler.ts";
import { undoIfGone } from "./undo-if-gone.ts";

type FileOperation = "cat" | "cp" | "grep" | Extract<OperationName, `browse${string}`>;

/** What each operation on files of moments does. */
export const FILE_HANDLERS: HandlersOf<FileOperation> = {
  cat: (input, engine, client) => catFiles(input.places, client, engine),

  cp: async (input, engine, client) => {
    const session = copyTargetOf(input.to, engine);
    if (session === null) return await copyFiles(input, null, client, engine);
    // A restore in between would leave the files in the processes that it ends.
    const copy = () => copyFiles(input, copyTargetOf(input.to, engine), client, engine);
    return await engine.leases.run(session.id, copy, client.cancelled);
  },

  browse: async (input, engine, client) => {
    const begun = await engine.browses.begin(input, client);
    await undoIfGone(client, () => engine.browses.end(begun.id));
    return begun;
  },

  "browse.list": async (_input, engine) => ({ browses: engine.browses.list() }),

  "browse.end": async (input, engine) => ({ ended: await engine.browses.end(input.which) }),

  grep: (input, engine, client) => grepCheckpoints(input, client, engine),
};

/**
 * Makes sure that nobody browses checkpoints that are about to be removed.
 *
 * @param force  ends what is browsed.
 * @throws CHECKPOINT_IN_USE
 */
export async function endBrowsing(
  checkpoints: readonly string[],
  force: boolean,
  { browses }: Engine,
): Promise<void> {
  const used = browses.of(checkpoints);
  const [first] = used;
  if (first === undefined) return;
  if (!force) {
    throw new WaypointError(
      "CHECKPOINT_IN_USE",
      `Checkpoint ${first.moment} is browsed at ${first.path}.`,
      {
        hint: `\`waypoint browse --end ${first.id}\` unmounts it; \`rm --force\` does it for you.`,
        detail: { browses: used.map(({ id }) => id) },
      },
    );
  }
  for (const { id } of used) await browses.end(id);
}
