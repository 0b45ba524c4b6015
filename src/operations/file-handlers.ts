import { catFiles, copyFiles, copyTargetOf, grepCheckpoints } from "../engine/files/index.ts";
import type { EnginePorts, StreamPeer } from "../engine/session/index.ts";
import { WaypointError } from "../shared/errors/index.ts";
import type {
  OperationName,
  OperationOutput,
  OperationParsedInput,
} from "../shared/protocol/index.ts";

type FileOperation = "cat" | "cp" | "grep" | Extract<OperationName, `browse${string}`>;

/** What each operation on files of moments does. */
export const FILE_HANDLERS: {
  [N in FileOperation]: (
    input: OperationParsedInput<N>,
    ports: EnginePorts,
    peer: StreamPeer,
  ) => Promise<OperationOutput<N>>;
} = {
  cat: (input, ports, peer) => catFiles(input.places, peer, ports),

  cp: async (input, ports, peer) => {
    const session = copyTargetOf(input.to, ports);
    if (session === null) return await copyFiles(input, null, peer, ports);
    // A restore in between would leave the files in the processes that it ends.
    const copy = () => copyFiles(input, copyTargetOf(input.to, ports), peer, ports);
    return await ports.leases.run(session.id, copy, peer.cancelled);
  },

  browse: (input, ports, peer) => ports.browses.begin(input, peer),

  "browse.list": async (_input, ports) => ({ browses: ports.browses.list() }),

  "browse.end": async (input, ports) => ({ ended: await ports.browses.end(input.which) }),

  grep: (input, ports, peer) => grepCheckpoints(input, peer, ports),
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
  { browses }: EnginePorts,
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
