import { readFileSync } from "node:fs";
import os from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { pollUntil } from "../../src/base/index.ts";
import type { Checkpoint, Session } from "../../src/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { commandLine } from "../contenders/command-line.ts";
import { answer, untilDurable, waypointFork, waypointRestore } from "../contenders/waypoint.ts";
import { type Contender, timed } from "../measuring/contender.ts";
import { NotMeasured } from "../measuring/not-measured.ts";
import { startProgram } from "../programs/program.ts";
import { resident } from "../programs/resident.ts";
import { PLAIN_SHELL, sessionComputer, WaypointWorld } from "../worlds/waypoint-world.ts";
import { PACE_MEBIBYTES } from "./pace.ts";
import { standbyMoves } from "./standby.ts";
import { verified } from "./verify.ts";
import type { Workload, WorkloadContext } from "./workload.ts";

const CHECKPOINTS = 300;
/** Every so many checkpoints, one is verified in a throw-away fork. */
const CHECKPOINTS_PER_VERIFICATION = 5;
/** The pace of use for what is left of the time. */
const REST_MS = 4_000;
const MS_PER_MINUTE = 60_000;
const KIBIBYTES_PER_MEBIBYTE = 1024;
const AUTOMATIC_MEBIBYTES = 150;
/** Seldom: looking takes from what is looked at. */
const AUTOMATIC_POLL = { timeoutMs: 10_000, intervalMs: 100 };
/** Both worlds, and the images of each. */
const FREE_BYTES_MIN = 8 * 1024 ** 3;

/** A daemon that has been used beside one that has not, each with a store of its own. */
export const aged: Workload = {
  name: "aged",
  title: `a daemon after ${CHECKPOINTS} checkpoints and their verifications, and a fresh one`,
  rounds: { quick: 0, full: 20 },
  warmMebibytes: () => 2 * Math.max(...PACE_MEBIBYTES),
  prepare: async (context) => {
    if (os.freemem() < FREE_BYTES_MIN) throw new NotMeasured("less than 8 GiB of memory are free");
    const old = context.stack.use(await WaypointWorld.open());
    await grow(old, context.agedMinutes);
    const fresh = context.stack.use(await WaypointWorld.open());
    const worlds = { fresh, aged: old };
    const contenders: Contender[] = [];
    for (const [name, world] of Object.entries(worlds)) {
      contenders.push(...(await used(name, world)), ...(await usedMore(name, world, context)));
    }
    return contenders;
  },
};

async function grow({ waypoint }: WaypointWorld, minutes: number): Promise<void> {
  const endsAtMs = performance.now() + minutes * MS_PER_MINUTE;
  const session = await waypoint.new({ name: "old", ...PLAIN_SHELL });
  for (let made = 1; made <= CHECKPOINTS || performance.now() < endsAtMs; made += 1) {
    await step(session, made);
    if (made > CHECKPOINTS) await delay(REST_MS);
  }
}

async function step(session: Session, made: number): Promise<void> {
  await session.exec(`export STEP=${made}; echo ${made} >>/srv/steps`);
  const checkpoint = await session.checkpoint();
  if (made % CHECKPOINTS_PER_VERIFICATION === 0) await checkpoint.verify("true");
}

async function used(name: string, world: WaypointWorld): Promise<Contender[]> {
  const session = await world.waypoint.new({ name: "plain", ...PLAIN_SHELL });
  await session.exec("cd /srv; export MARK=1");
  const older = await session.checkpoint({ durable: true });
  const restored = waypointRestore(session, older);
  const fromStandbys = await standbyMoves(world.waypoint);
  return [
    { name, run: () => saved(session) },
    { name, run: async () => ({ "exec true": (await timed(() => answer(session))).tookMs }) },
    ...fromStandbys.map((run) => ({
      name,
      run: async () => named("from a standby: ", await run()),
    })),
    { name, run: waypointFork(older).run },
    { name, run: () => removed(older) },
    { name, before: () => work(session), run: restored.run },
    { name, run: async () => ({ "daemon, MiB": await residentMebibytes(world) }) },
  ];
}

/** Sessions of the sizes of the pace of use, one that is checkpointed by itself, verifications, the command line. */
async function usedMore(
  name: string,
  world: WaypointWorld,
  context: WorkloadContext,
): Promise<Contender[]> {
  const sized: Contender[] = [];
  for (const mebibytes of PACE_MEBIBYTES) sized.push(await ofSize(name, mebibytes, world, context));
  const session = await world.waypoint.new({ name: "called", ...PLAIN_SHELL });
  return [
    ...sized,
    await byItself(name, world, context),
    await verified(name, world),
    ...beyondNode(name, commandLine(world.stateDir, session)),
  ];
}

/** What commands take beyond the start of Node, which is the larger part and no daemon's. */
function beyondNode(name: string, contenders: readonly Contender[]): Contender[] {
  const node = contenders.find((each) => each.name !== "command line");
  return contenders
    .filter((each) => each.name === "command line")
    .map(({ run }) => ({
      name,
      run: async () => {
        const { start = 0 } = (await node?.run()) ?? {};
        const [[command, tookMs] = ["", 0]] = Object.entries(await run());
        return { [`${command}, beyond Node's start`]: tookMs - start };
      },
    }));
}

/** The checkpoints of a session that holds memory. */
async function ofSize(
  name: string,
  mebibytes: number,
  { waypoint }: WaypointWorld,
  context: WorkloadContext,
): Promise<Contender> {
  const session = await waypoint.new({ name: `of-${mebibytes}`, ...PLAIN_SHELL });
  await startProgram(sessionComputer(session), await resident(mebibytes, context));
  return {
    name,
    run: async () => ({ [`pause, ${mebibytes} MiB`]: (await saved(session)).pause }),
  };
}

/** The checkpoint that a command leaves behind by itself. */
async function byItself(
  name: string,
  { waypoint }: WaypointWorld,
  context: WorkloadContext,
): Promise<Contender> {
  const session = await waypoint.new({ name: "automatic", ...PLAIN_SHELL });
  await startProgram(sessionComputer(session), await resident(AUTOMATIC_MEBIBYTES, context));
  await session.auto({ policy: "hybrid" });
  return {
    name,
    run: async () => {
      const { head } = await session.info();
      await session.exec("date +%s%N >/srv/step");
      await pollUntil("a checkpoint", AUTOMATIC_POLL, async () =>
        (await session.info()).head === head ? undefined : true,
      );
      const { checkpoints } = await session.log({ limit: 1 });
      const [taken] = checkpoints;
      if (taken === undefined) throw new Error("no checkpoint was taken");
      return { "auto hybrid: pause": taken.pauseMs };
    },
  };
}

async function removed(checkpoint: Checkpoint): Promise<Record<string, number>> {
  const [fork] = await checkpoint.fork();
  return { "removal of a fork": (await timed(() => fork?.remove({ force: true }))).tookMs };
}

function named(prefix: string, figures: Record<string, number>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(figures).map(([figure, value]) => [`${prefix}${figure}`, value]),
  );
}

async function work(session: Session): Promise<void> {
  await session.exec("date +%s%N >/srv/work");
  await answer(session);
}

async function saved(session: Session): Promise<{ pause: number; checkpoint: number }> {
  await work(session);
  const beganAtMs = performance.now();
  const checkpoint: Checkpoint = await session.checkpoint();
  const tookMs = performance.now() - beganAtMs;
  await untilDurable(checkpoint);
  return { pause: checkpoint.info.pauseMs, checkpoint: tookMs };
}

async function residentMebibytes({ stateDir }: WaypointWorld): Promise<number> {
  const { pid } = await callOperation(stateDir, "daemon.status", {});
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  return Number(kibibytes) / KIBIBYTES_PER_MEBIBYTE;
}
