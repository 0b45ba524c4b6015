import { setTimeout as delay } from "node:timers/promises";
import { pollUntil } from "../../src/base/index.ts";
import type { Checkpoint, Session, Waypoint } from "../../src/index.ts";
import { type Contender, timed } from "../measuring/contender.ts";
import type { Gaps } from "../programs/program.ts";
import { PLAIN_SHELL } from "../worlds/waypoint-world.ts";

/** Long enough for the ticker to run again and note the gap. */
export const TICK_NOTED_MS = 20;
const DURABLE_TIMEOUT_MS = 300_000;

/** A checkpoint, with the pause as the ticker in the session sees it. */
export function waypointCheckpoint(session: Session, gaps: Gaps): Contender {
  return {
    name: "waypoint",
    run: async () => {
      await gaps.reset();
      const { value: checkpoint, tookMs } = await timed(() => session.checkpoint());
      await delay(TICK_NOTED_MS);
      const pause = await gaps.longest();
      await untilDurable(checkpoint);
      return {
        pause,
        "pause by CRIU's clock": checkpoint.info.pauseMs,
        checkpoint: tookMs,
      };
    },
  };
}

/** From the call to the first answered command of all forks. */
export function waypointFork(checkpoint: Checkpoint, count = 1): Contender {
  return {
    name: "waypoint",
    run: async () => {
      const { value: forks, tookMs: madeMs } = await timed(() => checkpoint.fork(count));
      const { tookMs: answeredMs } = await timed(() => Promise.all(forks.map(answer)));
      for (const fork of forks) await fork.remove({ force: true });
      const tookMs = madeMs + answeredMs;
      return count === 1
        ? { fork: tookMs, "fork, of which the first command": answeredMs }
        : { [`${count} forks`]: tookMs };
    },
  };
}

/** The whole call, with what is captured first so that undo works; and its second part alone. */
export function waypointRestore(session: Session, checkpoint: Checkpoint): Contender {
  return {
    name: "waypoint",
    run: async () => {
      const restored = await timed(() => session.restore(checkpoint));
      const answered = await timed(() => answer(session));
      return {
        "restore, with what is captured for undo": restored.tookMs + answered.tookMs,
        restore: restored.value.readyMs + answered.tookMs,
      };
    },
  };
}

/** Takes the last restore back. */
export function waypointUndo(session: Session): Contender {
  return {
    name: "waypoint",
    run: async () => {
      const undone = await timed(() => session.undo());
      const answered = await timed(() => answer(session));
      return { undo: undone.tookMs + answered.tookMs };
    },
  };
}

/** A new session on the host's root. */
export function waypointNew(waypoint: Waypoint): Contender {
  return {
    name: "waypoint",
    run: async () => {
      const { value: fresh, tookMs } = await timed(async () => {
        const made = await waypoint.new(PLAIN_SHELL);
        await answer(made);
        return made;
      });
      await fresh.remove({ force: true });
      return { "new session": tookMs };
    },
  };
}

/** Resolves when a checkpoint is on the disk: else the next one pays for it. */
export async function untilDurable(checkpoint: Checkpoint): Promise<void> {
  await pollUntil("a durable checkpoint", { timeoutMs: DURABLE_TIMEOUT_MS }, async () =>
    (await checkpoint.show()).stage === "durable" ? true : undefined,
  );
}

/** Resolves when the session has answered a command. */
export async function answer(session: Session): Promise<void> {
  const { exitCode } = await session.exec("true");
  if (exitCode !== 0) throw new Error(`session ${session.name} does not answer`);
}
