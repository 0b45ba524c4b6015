import { readFileSync } from "node:fs";
import os from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { Session } from "../../src/index.ts";
import { bareDump } from "../contenders/bare-criu.ts";
import { TICK_NOTED_MS, untilDurable } from "../contenders/waypoint.ts";
import { type Contender, timed } from "../measuring/contender.ts";
import { NotMeasured } from "../measuring/not-measured.ts";
import { compile, Gaps, type Program } from "../programs/program.ts";
import { haveWritten, WRITER_DIRECTORY, writerProgram } from "../programs/writer.ts";
import { initOf, WaypointWorld } from "../worlds/waypoint-world.ts";
import { bareCriu, startIn } from "./compare-program.ts";
import { unlessMissing, type Workload, type WorkloadContext } from "./workload.ts";

/** The programs, and images of each. */
const COPIES_MAX = 7;
/** Long enough that all memory is written once, or a good part of it. */
const SPEED_MS = 1_000;
const MEBIBYTE = 1024 ** 2;

/**
 * Much memory of which 10 MiB were written since the last checkpoint, with writes followed; the first
 * checkpoint of it; and a program that writes all of its memory all the time.
 */
export const tracked: Workload = {
  name: "tracked",
  title: "much memory whose writes are followed (--mebibytes, 2 GiB unless said otherwise)",
  rounds: { quick: 0, full: 8 },
  warmMebibytes: ({ mebibytes }) => 3 * mebibytes,
  prepare: async (context) => {
    const { mebibytes } = context;
    if (os.freemem() < COPIES_MAX * mebibytes * MEBIBYTE) {
      throw new NotMeasured(`less than ${COPIES_MAX * mebibytes} MiB of memory are free`);
    }
    const writer = await compile("writer", context.buildDir);
    const programOf = writerProgram.bind(null, writer, mebibytes);
    const follows = context.stack.use(await WaypointWorld.open());
    return [
      await later(follows, programOf("asked"), context),
      ...(await unlessMissing("bare criu", context, async () => {
        const bare = await bareCriu(programOf("asked"), context);
        return [bareDump(bare, new Gaps(async () => bare.pid))];
      })),
      first(follows, programOf("works"), context),
      restless("waypoint, all written", follows, programOf("all"), context),
      restless(
        "not followed, all written",
        context.stack.use(await WaypointWorld.open({ tracksMemory: false })),
        programOf("all"),
        context,
      ),
    ];
  },
};

/** Each checkpoint comes after 10 MiB were written. */
async function later(
  world: WaypointWorld,
  program: Program,
  context: WorkloadContext,
): Promise<Contender> {
  const session = await startIn(world, program, context, "later");
  const init = await initOf(session);
  await session.checkpoint({ durable: true });
  let writes = 0;
  return {
    name: "waypoint",
    before: async () => {
      writes += 1;
      await haveWritten(init, writes);
    },
    run: async () => {
      const { stepsPerMs: _, ...figures } = await checkpointOf(session);
      return figures;
    },
  };
}

/** A session of its own for each. */
function first(world: WaypointWorld, program: Program, context: WorkloadContext): Contender {
  let sessions = 0;
  return {
    name: "waypoint, first",
    run: async () => {
      sessions += 1;
      const session = await startIn(world, program, context, `first-${sessions}`);
      const before = await speedOf(session);
      const checkpoint = await checkpointOf(session);
      await session.remove({ force: true });
      return {
        pause: checkpoint.pause,
        checkpoint: checkpoint.checkpoint,
        "times slower meanwhile": before / checkpoint.stepsPerMs,
      };
    },
  };
}

/** It writes all of its memory: nothing is saved, and a checkpoint makes each page cost a fault once. */
function restless(
  name: string,
  world: WaypointWorld,
  program: Program,
  context: WorkloadContext,
): Contender {
  let sessions = 0;
  return {
    name,
    run: async () => {
      sessions += 1;
      // It would take a processor from what else is measured.
      const session = await startIn(world, program, context, `restless-${sessions}`);
      const before = await speedOf(session);
      await session.checkpoint();
      const after = await speedOf(session);
      const { pause, checkpoint } = await checkpointOf(session);
      await session.remove({ force: true });
      return { pause, checkpoint, "times slower after a checkpoint": before / after };
    },
  };
}

async function checkpointOf(session: Session) {
  const init = await initOf(session);
  const gaps = new Gaps(async () => init);
  await gaps.reset();
  const stepsBefore = stepsOf(init);
  const { value: taken, tookMs } = await timed(() => session.checkpoint());
  const steps = stepsOf(init) - stepsBefore;
  await delay(TICK_NOTED_MS);
  const pause = await gaps.longest();
  await untilDurable(taken);
  return {
    ...{ pause, checkpoint: tookMs, "pause by CRIU's clock": taken.info.pauseMs },
    "copied in the pause, MiB": (taken.info.pauseBytes ?? taken.info.memoryBytes) / MEBIBYTE,
    stepsPerMs: steps / tookMs,
  };
}

/** Returns how much the program does in a millisecond. */
async function speedOf(session: Session): Promise<number> {
  const init = await initOf(session);
  const before = stepsOf(init);
  const { tookMs } = await timed(() => delay(SPEED_MS));
  return (stepsOf(init) - before) / tookMs;
}

function stepsOf(init: number): number {
  const bytes = readFileSync(`/proc/${init}/root${WRITER_DIRECTORY}/steps`);
  return bytes.length < 8 ? 0 : Number(bytes.readBigUInt64LE());
}
