import type { Session } from "../../src/index.ts";
import { type Contender, timed } from "../measuring/contender.ts";
import { answer, untilDurable } from "./waypoint.ts";

/** A checkpoint of files that were changed, and a restore of it: processes come along. */
export function waypointSave(
  name: string,
  session: Session,
  change: () => Promise<void>,
): Contender {
  return {
    name,
    run: async () => {
      await change();
      const { value: checkpoint, tookMs } = await timed(() => session.checkpoint());
      const returned = await timed(async () => {
        await session.restore(checkpoint, { withoutUndo: true });
        await answer(session);
      });
      await untilDurable(checkpoint);
      return { save: tookMs, "go back": returned.tookMs, pause: checkpoint.info.pauseMs };
    },
  };
}
