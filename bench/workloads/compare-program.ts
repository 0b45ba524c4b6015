import { bareDump, bareRestore } from "../contenders/bare-criu.ts";
import { podmanCheckpoint } from "../contenders/podman.ts";
import { waypointCheckpoint, waypointFork } from "../contenders/waypoint.ts";
import type { Contender } from "../measuring/contender.ts";
import { Gaps, type Program, startProgram, tickerProgram } from "../programs/program.ts";
import { BareCriu } from "../worlds/bare-criu.ts";
import { PodmanWorld } from "../worlds/podman-world.ts";
import { initOf, PLAIN_SHELL, sessionComputer, WaypointWorld } from "../worlds/waypoint-world.ts";
import { unlessMissing, type WorkloadContext } from "./workload.ts";

const CONTAINER = "bench";
const IDLE_SHELL = ["sh", "-c", "while :; do sleep 1000; done"];

/** Captures a program and brings it back: with Waypoint, with CRIU by hand and with podman. */
export async function compareProgram(
  program: Program,
  context: WorkloadContext,
  options: { withPodman: boolean; only?: "checkpoints" },
): Promise<Contender[]> {
  const isAll = options.only === undefined;
  const bare = () => withBareCriu(program, context, isAll);
  return [
    ...(await withWaypoint(program, context)).slice(0, isAll ? undefined : 1),
    ...(await unlessMissing("bare criu", context, bare)),
    ...(options.withPodman
      ? await unlessMissing("podman", context, () => withPodman(program, context))
      : []),
  ];
}

async function withWaypoint(program: Program, context: WorkloadContext): Promise<Contender[]> {
  const world = context.stack.use(await WaypointWorld.open());
  const session = await startIn(world, program, context);
  const gaps = new Gaps(() => initOf(session));
  const checkpoint = await session.checkpoint({ durable: true });
  return [waypointCheckpoint(session, gaps), waypointFork(checkpoint)];
}

async function withBareCriu(program: Program, context: WorkloadContext, isWithRestore: boolean) {
  const dumped = await bareCriu(program, context);
  const restores = isWithRestore ? [bareRestore(await bareCriu(program, context))] : [];
  return [bareDump(dumped, new Gaps(async () => dumped.pid)), ...restores];
}

/** Starts a program in a session that has no daemon, for CRIU by hand. */
export async function bareCriu(program: Program, context: WorkloadContext): Promise<BareCriu> {
  const world = context.stack.use(await WaypointWorld.open());
  const session = await startIn(world, program, context);
  const pid = await initOf(session);
  // Without a daemon nobody is connected to the session, and CRIU can be run on it by hand.
  await world.stopDaemon({ sessions: false });
  const target = { stateDir: world.stateDir, instanceId: `${session.id}-1`, pid };
  return context.stack.use(await BareCriu.open(target));
}

/** Captures a program with podman, and brings it back. @throws NotMeasured  it is not installed. */
export async function withPodman(program: Program, context: WorkloadContext): Promise<Contender[]> {
  const world = context.stack.use(await PodmanWorld.open());
  // The host's root, as Waypoint's session has it.
  await world.start(CONTAINER, ["--rootfs", "/:O"], IDLE_SHELL);
  const computer = world.computer(CONTAINER);
  await startProgram(computer, tickerProgram(context.ticker));
  await startProgram(computer, program);
  return [podmanCheckpoint(world, CONTAINER, new Gaps(() => world.initOf(CONTAINER)))];
}

/** Starts a program in a session of its own, with the ticker beside it. */
export async function startIn(
  world: WaypointWorld,
  program: Program,
  context: WorkloadContext,
  name = "program",
) {
  const session = await world.waypoint.new({ name, ...PLAIN_SHELL });
  const computer = sessionComputer(session);
  await startProgram(computer, tickerProgram(context.ticker));
  await startProgram(computer, program);
  return session;
}
