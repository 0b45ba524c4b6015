import type { SessionRow } from "../../portable/model/index.ts";
import type { CommandsSoFar, LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import type { AroundDump } from "./dump-instance.ts";
import { watchForChange } from "./exact-change-check.ts";
import { noteQuickState } from "./quick-change-check.ts";

/** How an instance is left alone for a dump. */
export interface Leaving {
  /** What has to be there before the programs stand. */
  beforePause: Promise<unknown>;
  /** Something is done with it right behind the checkpoint, which has to have all that was done before. */
  staysAlone: boolean;
}

/** The daemon's part in an instance around its dump. */
interface Around extends AroundDump {
  /** The checkpoint is captured as a whole: notes what it holds. Returns the commands in it, and when it captured. */
  keep: () => { commands: CommandsSoFar | null; createdAt: string };
  /** Comes back to the instance, whatever became of the dump. @throws SESSION_ENDED */
  end: () => Promise<void>;
}

/**
 * Returns what to do around the dump of an instance. CRIU cannot dump one end of a connection, so the daemon lets go of
 * the session's init, and what is typed or run meanwhile waits. That waits for no images: the daemon comes back as
 * soon as all is captured, unless a restore, a stop or a merge comes next.
 */
export function aroundDump(
  session: SessionRow,
  live: LiveInstance,
  id: string,
  engine: Engine,
  { beforePause, staysAlone }: Leaving,
): Around {
  const { link } = live;
  let noted: ReturnType<typeof note> | undefined;
  let createdAt: string | undefined;
  let back: Promise<void> | undefined;
  const comeBack = () => {
    back ??= link.resume();
    return back;
  };
  return {
    begin: async () => {
      // A second run of CRIU.
      if (noted !== undefined) await comeBack();
      back = undefined;
      noted = note(session, live, engine);
      await link.quiesce();
      await beforePause;
    },
    captured: () => {
      createdAt = new Date().toISOString();
      noted?.quickState.captured();
      // Who comes to the end is told of its failure.
      if (!staysAlone) comeBack().catch(() => {});
    },
    keep: () => {
      noted?.quickState.keep(id);
      createdAt ??= new Date().toISOString();
      return { commands: noted?.commands ?? null, createdAt };
    },
    end: async () => {
      if (noted === undefined) return;
      try {
        await comeBack();
      } finally {
        noted.watch.settle(id);
      }
    },
  };
}

/** What ends from here on is not in the capture: the daemon learns of it only afterwards. */
function note(session: SessionRow, live: LiveInstance, engine: Engine) {
  return {
    commands: engine.journal.soFar(live.instanceId),
    watch: watchForChange(session, live, engine),
    quickState: noteQuickState(session, live, engine),
  };
}
