import { setTimeout as delay } from "node:timers/promises";
import type { Session } from "../src/index.ts";
import { type Contender, timed } from "./contender.ts";
import { type Gaps, PLAIN_SHELL, type World } from "./world.ts";

const FORKS_MANY = 8;
/** Long enough for a shell to be back at its prompt after a command's end. */
const PROMPT_MS = 300;
/** Long enough for the ticker to run again and note the gap. */
const TICK_NOTED_MS = 20;

/** What a user of the SDK waits for, on a session whose shell has a background job. */
export async function engineContenders(world: World): Promise<Contender[]> {
  const { waypoint } = world;
  const session = await waypoint.new({ name: "plain", ...PLAIN_SHELL });
  await session.exec("cd /srv; export MARK=1; sleep 100000 &");
  await delay(PROMPT_MS);
  const base = await session.checkpoint({ name: "base", durable: true });
  return [
    {
      name: "restore",
      run: async () => {
        const restored = await timed(() => session.restore(base));
        const answered = await timed(() => answer(session));
        const { readyMs } = restored.value;
        return {
          restore: restored.tookMs + answered.tookMs,
          "restore-alone": readyMs + answered.tookMs,
        };
      },
    },
    {
      name: "undo",
      run: async () => {
        const undone = await timed(() => session.undo());
        const answered = await timed(() => answer(session));
        return { undo: undone.tookMs + answered.tookMs };
      },
    },
    {
      name: "fork",
      run: async () => {
        const { value: fork, tookMs } = await timed(async () => {
          const [made] = await base.fork();
          if (made === undefined) throw new Error("no fork");
          await answer(made);
          return made;
        });
        await fork.remove({ force: true });
        return { fork: tookMs };
      },
    },
    {
      name: "fork of many",
      run: async () => {
        const { value: forks, tookMs } = await timed(async () => {
          const made = await base.fork(FORKS_MANY);
          await Promise.all(made.map(answer));
          return made;
        });
        for (const fork of forks) await fork.remove({ force: true });
        return { "fork-many": tookMs };
      },
    },
    {
      name: "new",
      run: async () => {
        const { value: fresh, tookMs } = await timed(async () => {
          const made = await waypoint.new(PLAIN_SHELL);
          await answer(made);
          return made;
        });
        await fresh.remove({ force: true });
        return { new: tookMs };
      },
    },
    {
      name: "exec",
      run: async () => ({ "sdk-exec": (await timed(() => answer(session))).tookMs }),
    },
    {
      name: "ls",
      run: async () => ({ "sdk-ls": (await timed(() => waypoint.sessions())).tookMs }),
    },
  ];
}

/** A checkpoint of a session in which the ticker runs. */
export function checkpointContender(session: Session, gaps: Gaps): Contender {
  return {
    name: "checkpoint",
    run: async () => {
      gaps.reset();
      const { value: checkpoint, tookMs } = await timed(() => session.checkpoint());
      await delay(TICK_NOTED_MS);
      return {
        "pause-inside": gaps.longest(),
        "pause-criu": checkpoint.info.pauseMs,
        checkpoint: tookMs,
      };
    },
  };
}

/** CRIU by hand on a tree of the same shape. */
export function bareContender(dump: () => Promise<void>, gaps: Gaps): Contender {
  return {
    name: "bare",
    run: async () => {
      gaps.reset();
      const { tookMs } = await timed(dump);
      await delay(TICK_NOTED_MS);
      return { "bare-pause-inside": gaps.longest(), bare: tookMs };
    },
  };
}

async function answer(session: Session): Promise<void> {
  const { exitCode } = await session.exec("true");
  if (exitCode !== 0) throw new Error(`session ${session.name} does not answer`);
}
