import { setTimeout as delay } from "node:timers/promises";
import type { Session } from "../../src/index.ts";
import { answer } from "../contenders/waypoint.ts";
import { PLAIN_SHELL, WaypointWorld } from "../worlds/waypoint-world.ts";
import type { Workload } from "./workload.ts";

/** How often somebody asks for something and waits for it. */
const OPERATION_MS = 100;
const CHECKPOINT_MS = 2_000;
const MS_PER_MINUTE = 60_000;
/** After the last operation: what is not done by then never will be. */
const SETTLED_MS = 30_000;

/** When a checkpoint was answered, and how long its parts were still to come. */
interface Kept {
  answeredAtMs: number;
  durableMs: number | null;
  storyMs: number | null;
}

/** How long at most what nobody waits for gives way, where somebody always waits for something. */
export const busy: Workload = {
  name: "busy",
  title: "a command every 100 ms without an end: how long what is behind a checkpoint takes",
  rounds: { quick: 0, full: 1 },
  withoutWarmUp: true,
  prepare: async ({ stack, agedMinutes }) => {
    const { waypoint } = stack.use(await WaypointWorld.open());
    const session = await waypoint.new({ name: "busy", ...PLAIN_SHELL });
    return [
      {
        name: "waypoint",
        run: async () => {
          const kept = await useWithoutEnd(session, Math.max(1, agedMinutes) * MS_PER_MINUTE);
          return {
            checkpoints: kept.length,
            "until it is on the disk, longest": longest(kept.map(({ durableMs }) => durableMs)),
            "until its story is there, longest": longest(kept.map(({ storyMs }) => storyMs)),
          };
        },
      },
    ];
  },
};

async function useWithoutEnd(session: Session, forMs: number): Promise<Kept[]> {
  const kept = new Map<string, Kept>();
  const [startedAtMs, working] = [performance.now(), new AbortController()];
  const commands = (async () => {
    while (!working.signal.aborted) await Promise.all([answer(session), delay(OPERATION_MS)]);
  })();
  for (let made = 1; performance.now() < startedAtMs + forMs; made += 1) {
    await session.exec(`echo ${made} >>/srv/steps`);
    const { id } = await session.checkpoint();
    kept.set(id, { answeredAtMs: performance.now(), durableMs: null, storyMs: null });
    await watch(session, kept, CHECKPOINT_MS);
  }
  working.abort();
  await commands;
  await watch(session, kept, SETTLED_MS);
  return [...kept.values()];
}

/** Looks what has come until then, or until all has. */
async function watch(session: Session, kept: Map<string, Kept>, forMs: number): Promise<void> {
  const endsAtMs = performance.now() + forMs;
  const isOpen = ({ durableMs, storyMs }: Kept) => durableMs === null || storyMs === null;
  while (performance.now() < endsAtMs) {
    if ([...kept.values()].some(isOpen)) note(await session.log({ limit: 5 }), kept);
    else if (forMs > CHECKPOINT_MS) return;
    await delay(OPERATION_MS);
  }
}

function note({ checkpoints }: Awaited<ReturnType<Session["log"]>>, kept: Map<string, Kept>): void {
  for (const { id, stage, derivedIntent } of checkpoints) {
    const one = kept.get(id);
    if (one === undefined) continue;
    const sinceMs = performance.now() - one.answeredAtMs;
    if (stage === "durable") one.durableMs ??= sinceMs;
    if (derivedIntent !== null) one.storyMs ??= sinceMs;
  }
}

/** One that never came is an error, not a figure. */
function longest(values: readonly (number | null)[]): number {
  const all = values.filter((value) => value !== null);
  if (all.length < values.length) throw new Error(`${values.length - all.length} never came`);
  return Math.max(...all);
}
