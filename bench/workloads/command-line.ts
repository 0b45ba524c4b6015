import { commandLine, sdk } from "../contenders/command-line.ts";
import { PLAIN_SHELL, WaypointWorld } from "../worlds/waypoint-world.ts";
import type { Workload } from "./workload.ts";

/** What starting a process for every step costs. */
export const commands: Workload = {
  name: "commands",
  title: "one command: by the SDK, and by a process of the command line",
  rounds: { quick: 20, full: 100 },
  prepare: async (context) => {
    const world = context.stack.use(await WaypointWorld.open());
    const session = await world.waypoint.new({ name: "plain", ...PLAIN_SHELL });
    return [...commandLine(world.stateDir, session), ...sdk(world.waypoint, session)];
  },
};
