import { setTimeout as delay } from "node:timers/promises";
import {
  waypointFork,
  waypointNew,
  waypointRestore,
  waypointUndo,
} from "../contenders/waypoint.ts";
import { PLAIN_SHELL, WaypointWorld } from "../worlds/waypoint-world.ts";
import { compareProgram } from "./compare-program.ts";
import type { Workload } from "./workload.ts";

/** Long enough for a shell to be back at its prompt after a command's end. */
const PROMPT_MS = 300;

const START = "cd /srv; export MARK=1; sleep 100000 </dev/null >/dev/null 2>&1 &";

/** The smallest thing: a shell with a background job. */
export const shell: Workload = {
  name: "shell",
  title: "a shell with a background job",
  rounds: { quick: 20, full: 100 },
  prepare: async (context) => {
    const program = { files: {}, start: START, isReady: "true" };
    const compared = await compareProgram(program, context, { withPodman: true });
    const world = context.stack.use(await WaypointWorld.open());
    const session = await world.waypoint.new({ name: "plain", ...PLAIN_SHELL });
    await session.exec(START);
    await delay(PROMPT_MS);
    const base = await session.checkpoint({ durable: true });
    return [
      // The fork of the session with the ticker gives way to the one without.
      ...compared.filter((_contender, index) => index !== 1),
      waypointFork(base),
      waypointRestore(session, base),
      waypointUndo(session),
      waypointNew(world.waypoint),
    ];
  },
};
