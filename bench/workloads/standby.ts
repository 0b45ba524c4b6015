import { pollUntil } from "../../src/base/index.ts";
import type { Checkpoint, Session, Waypoint } from "../../src/index.ts";
import { answer } from "../contenders/waypoint.ts";
import { type Contender, timed } from "../measuring/contender.ts";
import { PLAIN_SHELL, WaypointWorld } from "../worlds/waypoint-world.ts";
import type { Workload } from "./workload.ts";

const READY_TIMEOUT_MS = 30_000;

/**
 * The same moves from a standby. Each waits until one is ready, and until what the last move left
 * has been dumped; that is work in the background, which a later command would not wait for.
 */
export const standby: Workload = {
  name: "standby",
  title: "a shell, with a standby ready",
  rounds: { quick: 12, full: 60 },
  prepare: async (context) => {
    const { waypoint } = context.stack.use(await WaypointWorld.open());
    const moves = await standbyMoves(waypoint);
    return moves.map((run) => ({ name: "waypoint", run }));
  },
};

/** Returns a restore, an undo and a fork of a shell from standbys of a session of their own. */
export async function standbyMoves(waypoint: Waypoint): Promise<Contender["run"][]> {
  const session = await waypoint.new({ name: "ready", ...PLAIN_SHELL, standby: "head" });
  await session.exec("cd /srv; export MARK=1; sleep 100000 &");
  const base = await session.checkpoint({ durable: true });
  return [
    async () => {
      await standOn(session, base);
      return { restore: await tookToAnswer(session, () => session.restore(base)) };
    },
    async () => {
      await standOn(session, base);
      const { undo } = await session.restore(base);
      await untilReady(session, undo ?? "");
      return { undo: await tookToAnswer(session, () => session.undo()) };
    },
    async () => {
      await standOn(session, base);
      const { value: forks, tookMs: madeMs } = await timed(() => base.fork());
      const [fork] = forks as [Session];
      const { tookMs: answeredMs } = await timed(() => answer(fork));
      await fork.remove({ force: true });
      return { fork: madeMs + answeredMs, "fork, of which the first command": answeredMs };
    },
  ];
}

async function tookToAnswer(session: Session, move: () => Promise<unknown>): Promise<number> {
  const { tookMs } = await timed(async () => {
    await move();
    await answer(session);
  });
  return tookMs;
}

async function standOn(session: Session, base: Checkpoint): Promise<void> {
  if ((await session.info()).head !== base.id) await session.restore(base);
  await untilReady(session, base.id);
}

async function untilReady(session: Session, checkpoint: string): Promise<void> {
  await pollUntil("a standby", { timeoutMs: READY_TIMEOUT_MS, intervalMs: 20 }, async () => {
    const { ready } = await session.standby();
    return ready.includes(checkpoint) ? true : undefined;
  });
}
