import os from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { Checkpoint, Session } from "../../src/index.ts";
import { TICK_NOTED_MS, untilDurable } from "../contenders/waypoint.ts";
import { type Contender, timed } from "../measuring/contender.ts";
import { NotMeasured } from "../measuring/not-measured.ts";
import { summarize } from "../measuring/statistics.ts";
import { browserProgram } from "../programs/browser.ts";
import { holders } from "../programs/holders.ts";
import { nodeServerProgram } from "../programs/node-server.ts";
import { postgresqlProgram } from "../programs/postgresql.ts";
import { Gaps, together, type UsedProgram } from "../programs/program.ts";
import { redisProgram } from "../programs/redis.ts";
import { resident } from "../programs/resident.ts";
import { initOf, sessionComputer, WaypointWorld } from "../worlds/waypoint-world.ts";
import { startIn, withPodman } from "./compare-program.ts";
import { unlessMissing, type Workload, type WorkloadContext } from "./workload.ts";

const MEBIBYTE = 1024 ** 2;
const HELD_MEBIBYTES = 1024;
/** All programs, podman's too, and the images of each. */
const NEEDED_MEBIBYTES = 8 * HELD_MEBIBYTES;
const PROGRAMS_TOGETHER = 8;
/** Five of them and the three servers hold 1 GiB. */
const HOLDER_MEBIBYTES = 160;
const IN_A_ROW = 10;
const SHELL_BESIDE = "pause of a shell's checkpoint, in turn with these";
const SHELL: UsedProgram = { files: {}, start: ":", isReady: "true", use: "true" };

const SERVERS = { redis: redisProgram, postgresql: postgresqlProgram, node: nodeServerProgram };
const PROGRAMS = { ...SERVERS, chromium: browserProgram };

/** A session whose writes are followed. */
interface Followed {
  session: Session;
  gaps: Gaps;
  /** Does something in it. */
  use: () => Promise<void>;
}

/** What a checkpoint of a program costs that has had one before; and podman's of the same memory. */
export const followed: Workload = {
  name: "followed",
  title: "programs whose writes are followed, each beside a shell",
  rounds: { quick: 5, full: 20 },
  warmMebibytes: () => HELD_MEBIBYTES,
  prepare: async (context) => {
    if (os.freemem() < NEEDED_MEBIBYTES * MEBIBYTE) {
      throw new NotMeasured(`less than ${NEEDED_MEBIBYTES} MiB of memory are free`);
    }
    const world = context.stack.use(await WaypointWorld.open({ tracksMemory: true }));
    const follow = (name: string, program: UsedProgram) => start(world, name, program, context);
    const shell = await follow("shell", SHELL);
    const contenders: Contender[] = [];
    for (const [name, find] of Object.entries(PROGRAMS)) {
      const followIt = async () => [besideShell(name, await follow(name, find()), shell)];
      contenders.push(...(await unlessMissing(name, context, followIt)));
    }
    const held = await holdsMuch(context);
    return [
      ...contenders,
      inARow("eight programs", await follow("eight", eightPrograms()), shell),
      besideShell("1 GiB held", await follow("held", held), shell),
      ...(await unlessMissing("podman", context, () => withPodman(held, context))),
    ];
  },
};

/** Starts a program in a session of its own; its first checkpoint, which copies all, is over. */
async function start(
  world: WaypointWorld,
  name: string,
  program: UsedProgram,
  context: WorkloadContext,
): Promise<Followed> {
  const session = await startIn(world, program, context, name);
  const { shell } = sessionComputer(session);
  const use = async () => {
    if ((await shell(program.use)) !== 0) throw new Error(`${name} does not answer`);
  };
  await use();
  await session.checkpoint({ durable: true });
  const init = await initOf(session);
  return { session, gaps: new Gaps(async () => init), use };
}

/** A checkpoint of a shell and one of the program, so that both find the machine equally busy. */
function besideShell(name: string, program: Followed, shell: Followed): Contender {
  return {
    name,
    run: async () => {
      const beside = await checkpointsOf(shell, 1);
      const { pausesMs, checkpoints, tookMs } = await checkpointsOf(program, 1);
      return {
        pause: summarize(pausesMs).p50,
        [SHELL_BESIDE]: summarize(beside.pausesMs).p50,
        "pause by CRIU's clock": summarize(checkpoints.map(({ info }) => info.pauseMs)).p50,
        "copied in the pause, MiB": summarize(checkpoints.map(copiedMebibytes)).p50,
        checkpoint: tookMs,
      };
    },
  };
}

/** Ten checkpoints with nothing between them, and as many of a shell: a half before and one after. */
function inARow(name: string, programs: Followed, shell: Followed): Contender {
  return {
    name,
    run: async () => {
      const before = await checkpointsOf(shell, IN_A_ROW / 2);
      const { pausesMs, checkpoints } = await checkpointsOf(programs, IN_A_ROW);
      const after = await checkpointsOf(shell, IN_A_ROW / 2);
      return {
        [`pause, longest of ${IN_A_ROW} in a row`]: summarize(pausesMs).max,
        "pause, median of them": summarize(pausesMs).p50,
        [SHELL_BESIDE]: summarize([...before.pausesMs, ...after.pausesMs]).p50,
        "copied in the pause, MiB, most of them": summarize(checkpoints.map(copiedMebibytes)).max,
      };
    },
  };
}

/** Uses the programs, and takes checkpoints of them in a row. */
async function checkpointsOf({ session, gaps, use }: Followed, count: number) {
  const pausesMs: number[] = [];
  const checkpoints: Checkpoint[] = [];
  let tookMs = 0;
  await use();
  for (let taken = 0; taken < count; taken += 1) {
    await gaps.reset();
    const checkpoint = await timed(() => session.checkpoint());
    await delay(TICK_NOTED_MS);
    pausesMs.push(await gaps.longest());
    checkpoints.push(checkpoint.value);
    tookMs += checkpoint.tookMs;
  }
  for (const checkpoint of checkpoints) await untilDurable(checkpoint);
  return { pausesMs, checkpoints, tookMs };
}

function copiedMebibytes({ info }: Checkpoint): number {
  return (info.pauseBytes ?? info.memoryBytes) / MEBIBYTE;
}

/** Returns the servers that this machine has, and programs that hold memory beside them. */
function eightPrograms(): UsedProgram {
  const servers = Object.values(SERVERS).flatMap((find) => {
    try {
      return [find()];
    } catch (error) {
      if (error instanceof NotMeasured) return [];
      throw error;
    }
  });
  const others = holders(PROGRAMS_TOGETHER - servers.length, HOLDER_MEBIBYTES);
  return {
    ...together([...servers, ...others]),
    use: servers.map(({ use }) => use).join(" && "),
  };
}

/** Returns a program that holds 1 GiB, and reads it. */
async function holdsMuch(context: WorkloadContext): Promise<UsedProgram> {
  return { ...(await resident(HELD_MEBIBYTES, context)), use: SHELL.use };
}
