import type { Session } from "../../src/index.ts";
import { bareRestore } from "../contenders/bare-criu.ts";
import { callOnCommandLine } from "../contenders/command-line.ts";
import { answer, waypointFork, waypointRestore } from "../contenders/waypoint.ts";
import { type Contender, timed } from "../measuring/contender.ts";
import { resident } from "../programs/resident.ts";
import { PLAIN_SHELL, WaypointWorld } from "../worlds/waypoint-world.ts";
import { bareCriu, compareProgram } from "./compare-program.ts";
import { unlessMissing, type Workload, type WorkloadContext } from "./workload.ts";

/** What the sessions hold. */
export const PACE_MEBIBYTES = [30, 100, 768];

/**
 * What a person or an agent does every few seconds: each round comes back to back with the next, and
 * then once more after a rest.
 */
export const pace: Workload = {
  name: "pace",
  title: "the pace of use: checkpoints, forks and restores with a rest before each",
  rounds: { quick: 0, full: 20 },
  restSeconds: 5,
  warmMebibytes: () => 2 * Math.max(...PACE_MEBIBYTES),
  prepare: async (context) => {
    const contenders: Contender[] = [];
    for (const mebibytes of PACE_MEBIBYTES) contenders.push(...(await ofSize(mebibytes, context)));
    return [...contenders, ...(await goingBack(context))];
  },
};

/** The checkpoints of a session with so much memory, CRIU's by hand and podman's. */
async function ofSize(mebibytes: number, context: WorkloadContext): Promise<Contender[]> {
  const program = await resident(mebibytes, context);
  const which = { withPodman: true, only: "checkpoints" } as const;
  const compared = await compareProgram(program, context, which);
  return compared.map(({ name, run }) => ({ name: `${name}, ${mebibytes} MiB`, run }));
}

const NO_PROGRAM = { files: {}, start: ":", isReady: ":" };

/** An older checkpoint of a shell: forked, and restored with what is captured for undo; CRIU's restore by hand. */
async function goingBack(context: WorkloadContext): Promise<Contender[]> {
  const world = context.stack.use(await WaypointWorld.open());
  const session = await world.waypoint.new({ name: "plain", ...PLAIN_SHELL });
  await session.exec("cd /srv; export MARK=1");
  const older = await session.checkpoint({ durable: true });
  const bare = async () => [bareRestore(await bareCriu(NO_PROGRAM, context))];
  return [
    waypointFork(older),
    ...(await unlessMissing("bare criu", context, bare)),
    afterWork(session, waypointRestore(session, older)),
    {
      name: "command line",
      run: async () => {
        const { stateDir } = world;
        const { tookMs } = await timed(() =>
          callOnCommandLine(stateDir, "fork", older.id, "--name", "forked"),
        );
        await callOnCommandLine(stateDir, "rm", "forked", "--force");
        return { fork: tookMs };
      },
    },
    afterWork(session, {
      name: "command line",
      run: async () => ({
        "restore, with what is captured for undo": (
          await timed(() =>
            callOnCommandLine(world.stateDir, "restore", session.name, older.id, "--yes"),
          )
        ).tookMs,
      }),
    }),
  ];
}

/** The session has gone on since its last checkpoint, so that there is something to capture. */
function afterWork(session: Session, { name, run }: Contender): Contender {
  return {
    name,
    before: async () => {
      await session.exec("date +%s%N >/srv/work");
      await answer(session);
    },
    run,
  };
}
