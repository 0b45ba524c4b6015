import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { untilDurable } from "../contenders/waypoint.ts";
import { timed } from "../measuring/contender.ts";
import { PLAIN_SHELL, WaypointWorld } from "../worlds/waypoint-world.ts";
import type { Workload } from "./workload.ts";

const run = promisify(execFile);
const DEPTH = 500;

/** A session with a long history against one without, each with a daemon and a store of its own. */
export const deepLineage: Workload = {
  name: "lineage",
  title: `a lineage ${DEPTH} deep`,
  rounds: { quick: 12, full: 60 },
  prepare: async (context) => {
    const young = context.stack.use(await WaypointWorld.open());
    const old = context.stack.use(await WaypointWorld.open());
    const sessions = {
      "depth 1": await young.waypoint.new(PLAIN_SHELL),
      [`depth ${DEPTH}`]: await old.waypoint.new(PLAIN_SHELL),
    };
    const deep = sessions[`depth ${DEPTH}`];
    for (let depth = 1; depth < DEPTH; depth += 1) await deep?.checkpoint({ filesOnly: true });
    for (const session of Object.values(sessions)) {
      await untilDurable(await session.checkpoint());
    }
    // What making the history has left in the host's cache would be written during the rounds.
    await run("sync", ["-f", old.stateDir]);
    return Object.entries(sessions).map(([name, session]) => ({
      name,
      run: async () => {
        // Where nothing has changed, a checkpoint shares its parent's captures and shows nothing.
        await session.exec("echo >> /srv/steps");
        const { value: checkpoint, tookMs } = await timed(() => session.checkpoint());
        await untilDurable(checkpoint);
        return { checkpoint: tookMs, pause: checkpoint.info.pauseMs };
      },
    }));
  },
};
