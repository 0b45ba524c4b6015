import { callOperation } from "../../src/surfaces/client/index.ts";
import { type Contender, timed } from "../measuring/contender.ts";
import { PLAIN_SHELL, WaypointWorld } from "../worlds/waypoint-world.ts";
import type { Workload } from "./workload.ts";

/** How many checkpoints a command is run against. */
const CHECKPOINTS = 60;

/**
 * Throw-away forks: a command that does nothing, run against each checkpoint of a session, one more at
 * once than there are processors.
 */
export const verify: Workload = {
  name: "verify",
  title: `\`verify --session -- true\` over ${CHECKPOINTS} checkpoints of a shell`,
  rounds: { quick: 5, full: 20 },
  prepare: async (context) => {
    const world = context.stack.use(await WaypointWorld.open());
    return [await verified("waypoint", world)];
  },
};

/** Verifications of a session of its own. */
export async function verified(name: string, world: WaypointWorld): Promise<Contender> {
  const session = await world.waypoint.new({ name: "verified", ...PLAIN_SHELL });
  for (let number = 0; number < CHECKPOINTS; number += 1) {
    await session.exec(`echo ${number} >/srv/number`);
    await session.checkpoint({ durable: true });
  }
  return {
    name,
    run: async () => {
      const wanted = { session: session.name, command: ["true"] };
      const { value, tookMs } = await timed(() => callOperation(world.stateDir, "verify", wanted));
      if (value.passed !== CHECKPOINTS) throw new Error(`${value.passed} have passed`);
      return { "throw-away fork": tookMs / CHECKPOINTS };
    },
  };
}
