import { killProcess, pollUntil } from "../../base/index.ts";
import type { RunningCriu } from "../../linux/criu/index.ts";
import { hasCode } from "../../shared/errors/index.ts";
import type { Engine } from "../ports/index.ts";

/** How long to wait for a dump of the last daemon; then it is taken to hang. */
const LEFT_DUMP_TIMEOUT_MS = 60_000;
const LOOK_INTERVAL_MS = 50;
/** A CRIU that is just starting holds its tree after some milliseconds. */
const FREE_LOOKS_MAX = 20;

/**
 * Waits for, or ends, what the last daemon left of CRIU.
 *
 * One in the middle of a dump must not be ended: it would leave its code inside the processes. It
 * needs no daemon to finish, and when it hangs the daemon goes on without.
 * What one in the middle of a restore has made is of use to nobody. When a CRIU has died as well,
 * its helpers and half restored processes wait for it for ever.
 */
export async function settleStaleCriu(engine: Engine): Promise<void> {
  const looks = new Map<number, number>();
  try {
    await pollUntil(
      "a CRIU of the last daemon to finish",
      { timeoutMs: LEFT_DUMP_TIMEOUT_MS, intervalMs: LOOK_INTERVAL_MS },
      () => {
        const left = findLeft(engine);
        for (const each of left) if (waitsForEver(each, looks, engine)) killProcess(each.pid);
        return left.length === 0 ? true : undefined;
      },
    );
  } catch (error) {
    if (!hasCode(error, "DEADLINE_EXCEEDED")) throw error;
    engine.logger.error("a CRIU of the last daemon hangs", error);
  }
  await engine.criu.removeStaleMountRoots();
}

function findLeft({ criu, settings }: Engine): RunningCriu[] {
  const { imagesDir, storeDir } = settings.layout;
  return criu.findRunningCriu(
    (argument) => argument.startsWith(`${imagesDir}/`) || argument.startsWith(`${storeDir}/`),
  );
}

/** @param looks  how often in a row a process was seen whose tree nobody holds. */
function waitsForEver(
  { pid, treePid }: RunningCriu,
  looks: Map<number, number>,
  { criu }: Engine,
): boolean {
  if (treePid === null || criu.isTreeKilled(treePid)) return true;
  const freeLooks = criu.isTreeHeld(treePid) ? 0 : (looks.get(pid) ?? 0) + 1;
  looks.set(pid, freeLooks);
  return freeLooks > FREE_LOOKS_MAX;
}
