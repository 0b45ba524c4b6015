import { setTimeout as delay } from "node:timers/promises";
import type { Session } from "../../src/index.ts";
import { answer } from "../contenders/waypoint.ts";
import { type Contender, timed } from "../measuring/contender.ts";
import { summarize } from "../measuring/statistics.ts";
import { startProgram } from "../programs/program.ts";
import { resident } from "../programs/resident.ts";
import { PLAIN_SHELL, sessionComputer, WaypointWorld } from "../worlds/waypoint-world.ts";
import type { Workload, WorkloadContext } from "./workload.ts";

const MEBIBYTES = 150;
const COMMAND_MS = 4_000;
/** Calls in a round, and how long the longest wait before one is. */
const CALLS = 100;
const CALL_MS_MAX = 2_000;

/** What somebody feels in a session that is checkpointed by itself: after each command. */
export const automatic: Workload = {
  name: "automatic",
  title: `a session of ${MEBIBYTES} MiB with a command every 4 s: checkpointed by itself, and not; and a shell`,
  rounds: { quick: 0, full: 5 },
  withoutWarmUp: true,
  prepare: async (context) => [
    await inUse("auto hybrid", { policy: "hybrid", mebibytes: MEBIBYTES }, context),
    await inUse("auto off", { policy: "manual", mebibytes: MEBIBYTES }, context),
    await inUse("a shell, auto hybrid", { policy: "hybrid", mebibytes: 0 }, context),
  ],
};

async function inUse(
  name: string,
  { policy, mebibytes }: { policy: string; mebibytes: number },
  context: WorkloadContext,
): Promise<Contender> {
  const { waypoint } = context.stack.use(await WaypointWorld.open());
  const session = await waypoint.new({ name: "used", ...PLAIN_SHELL });
  if (mebibytes > 0)
    await startProgram(sessionComputer(session), await resident(mebibytes, context));
  await session.auto({ policy });
  return { name, run: () => useFor(session) };
}

async function useFor(session: Session): Promise<Record<string, number>> {
  const working = new AbortController();
  const commands = (async () => {
    for (let made = 1; !working.signal.aborted; made += 1) {
      await session.exec(`echo ${made} >/srv/step`);
      await delay(COMMAND_MS, undefined, { signal: working.signal }).catch(() => {});
    }
  })();
  const since = new Date().toISOString();
  const calls: number[] = [];
  while (calls.length < CALLS) {
    await delay(Math.random() * CALL_MS_MAX);
    calls.push((await timed(() => answer(session))).tookMs);
  }
  working.abort();
  await commands;
  const { checkpoints } = await session.log();
  const pauses = checkpoints
    .filter(({ trigger, createdAt }) => trigger === "auto" && createdAt > since)
    .map(({ pauseMs }) => pauseMs);
  return {
    [`exec, slowest of ${CALLS}`]: Math.max(...calls),
    ...(pauses.length === 0
      ? {}
      : { pause: summarize(pauses).p50, "pause, longest": Math.max(...pauses) }),
  };
}
