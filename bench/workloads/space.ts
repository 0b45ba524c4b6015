import { execFileSync } from "node:child_process";
import { stateLayout } from "../../src/base/index.ts";
import type { Checkpoint, Session } from "../../src/index.ts";
import { untilDurable } from "../contenders/waypoint.ts";
import { timed } from "../measuring/contender.ts";
import { summarize } from "../measuring/statistics.ts";
import { compile, type Program, startProgram } from "../programs/program.ts";
import { resident } from "../programs/resident.ts";
import { haveWritten, writerProgram } from "../programs/writer.ts";
import { initOf, PLAIN_SHELL, sessionComputer, WaypointWorld } from "../worlds/waypoint-world.ts";
import type { Workload, WorkloadContext } from "./workload.ts";

const MEBIBYTE = 1024 ** 2;
const LARGE_MIB = 1024;
const LARGE_COUNT = 10;
const SHELL_COUNT = 100;
const COMMANDS_MIN = 20;

/**
 * What many checkpoints take, and what the copy of a large one to the disk does to the rest.
 *
 * Between two checkpoints a command runs, so that each captures everything anew.
 */
export const space: Workload = {
  name: "space",
  title: `${LARGE_COUNT} checkpoints of a 1 GiB process, idle or with 10 MiB written before each; ${SHELL_COUNT} of a shell`,
  rounds: { quick: 0, full: 1 },
  withoutWarmUp: true,
  prepare: async (context) => {
    const program = await resident(LARGE_MIB, context);
    const writer = writerProgram(await compile("writer", context.buildDir), LARGE_MIB, "asked");
    return [
      { name: "1 GiB", run: () => large(program, context) },
      { name: "1 GiB, 10 MiB written", run: () => written(writer, context) },
      { name: "shell", run: () => many(context) },
    ];
  },
};

async function large(program: Program, { stack }: WorkloadContext) {
  const world = stack.use(await WaypointWorld.open());
  const session = await world.waypoint.new(PLAIN_SHELL);
  await startProgram(sessionComputer(session), program);
  const other = await world.waypoint.new(PLAIN_SHELL);
  const quiet = await execTimes(other, () => false);
  const before = usedMib(world);
  const first = await session.checkpoint();
  let isDurable = false;
  const durable = timed(() => untilDurable(first)).finally(() => {
    isDurable = true;
  });
  const busy = await execTimes(other, () => !isDurable);
  const { tookMs } = await durable;
  const others = await take(session, LARGE_COUNT - 1);
  await untilDurable(others.at(-1) ?? first);
  return {
    "store, MiB": usedMib(world) - before,
    "the first one's copy to the store": tookMs,
    "exec in another session": quiet.p50,
    "exec in another session, during that copy": busy.p50,
  };
}

/** What the store grows by, and what was written; the first checkpoint, which has all, is not in it. */
async function written(program: Program, { stack }: WorkloadContext) {
  const world = stack.use(await WaypointWorld.open());
  const session = await world.waypoint.new(PLAIN_SHELL);
  await startProgram(sessionComputer(session), program);
  const init = await initOf(session);
  await untilDurable(await session.checkpoint());
  const before = usedMib(world);
  const dataBefore = usedOf(world, "Data");
  let bytes = 0;
  for (let nth = 1; nth <= LARGE_COUNT; nth += 1) {
    await haveWritten(init, nth);
    const checkpoint = await session.checkpoint();
    bytes += checkpoint.info.pauseBytes ?? checkpoint.info.memoryBytes;
    await untilDurable(checkpoint);
  }
  return {
    "store, MiB": usedMib(world) - before,
    "of which content, MiB": usedOf(world, "Data") - dataBefore,
    "copied in pauses, MiB": bytes / MEBIBYTE,
  };
}

async function many({ stack }: WorkloadContext) {
  const world = stack.use(await WaypointWorld.open());
  const session = await world.waypoint.new(PLAIN_SHELL);
  const before = usedMib(world);
  const checkpoints = await take(session, SHELL_COUNT);
  for (const last of checkpoints.slice(-1)) await untilDurable(last);
  return { "store, MiB": usedMib(world) - before };
}

async function take(session: Session, count: number): Promise<Checkpoint[]> {
  const checkpoints: Checkpoint[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    await session.exec(`echo ${nth} >> /srv/steps`);
    checkpoints.push(await session.checkpoint());
  }
  return checkpoints;
}

/** Runs commands, some at least, as long as `isGoingOn`. */
async function execTimes(session: Session, isGoingOn: () => boolean) {
  const times: number[] = [];
  while (times.length < COMMANDS_MIN || isGoingOn()) {
    times.push((await timed(() => session.exec("true"))).tookMs);
  }
  return summarize(times);
}

/** Space that the store takes, data and metadata, after everything was written. */
function usedMib(world: WaypointWorld): number {
  return usedOf(world, "Data|Metadata|System");
}

/** The same of some kinds, as btrfs names them. */
function usedOf(world: WaypointWorld, kinds: string): number {
  const { namespacePath, storeDir } = stateLayout(world.stateDir);
  const line = `btrfs filesystem sync ${storeDir}; btrfs filesystem df -b ${storeDir}`;
  const enter = [`--mount=${namespacePath}`, "sh", "-c", line];
  const shown = execFileSync("nsenter", enter, { encoding: "utf8" });
  const used = [...shown.matchAll(new RegExp(`^(?:${kinds}),.*used=(\\d+)$`, "gm"))];
  return used.reduce((sum, [, bytes]) => sum + Number(bytes), 0) / MEBIBYTE;
}
