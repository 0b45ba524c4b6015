import { setTimeout as delay } from "node:timers/promises";
import { type Contender, timed } from "../measuring/contender.ts";
import type { Gaps } from "../programs/program.ts";
import type { BareCriu } from "../worlds/bare-criu.ts";
import { TICK_NOTED_MS } from "./waypoint.ts";

/**
 * CRIU by hand on a tree of the same shape: the floor of a checkpoint. The tree has never been
 * restored, as little as the session that it is compared with.
 */
export function bareDump(bare: BareCriu, gaps: Gaps): Contender {
  return {
    name: "bare criu",
    run: async () => {
      await gaps.reset();
      const { tookMs } = await timed(() => bare.dump());
      await delay(TICK_NOTED_MS);
      await bare.turnImages();
      return { pause: await gaps.longest(), checkpoint: tookMs };
    },
  };
}

/** The floor of a restore: into mounts and a network that are there already. */
export function bareRestore(bare: BareCriu): Contender {
  return {
    name: "bare criu",
    run: async () => {
      await bare.dumpAndEnd();
      return { restore: (await timed(() => bare.restore())).tookMs };
    },
  };
}
