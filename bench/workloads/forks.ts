import { waypointFork } from "../contenders/waypoint.ts";
import { PLAIN_SHELL, WaypointWorld } from "../worlds/waypoint-world.ts";
import type { Workload } from "./workload.ts";

/** Many live copies of one moment, all of which have answered. */
export const forks: Workload = {
  name: "forks",
  title: "16 and 64 forks of a shell, all answering",
  rounds: { quick: 4, full: 15 },
  prepare: async (context) => {
    const world = context.stack.use(await WaypointWorld.open());
    const session = await world.waypoint.new({ name: "many", ...PLAIN_SHELL });
    const base = await session.checkpoint({ durable: true });
    return [waypointFork(base, 16), waypointFork(base, 64)];
  },
};
