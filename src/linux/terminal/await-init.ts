import { findStandstill, unresponsive } from "../../base/index.ts";

/** Init answers in a fraction of a millisecond; on a machine that swaps it may take seconds. */
const ANSWER_TIMEOUT_MS = 10_000;
const LOOK_INTERVAL_MS = 500;
/** A debugger that has just come lets go again; one that keeps init still this long does not. */
const STILL_LOOKS_MAX = 6;

/**
 * Returns what `work`, which waits for init, resolves to.
 *
 * The work itself goes on unseen when it is given up: init may do it when it runs again.
 *
 * @throws SESSION_UNRESPONSIVE  init stands still, or does not answer in time.
 */
export async function awaitInit<T>(
  initPid: number | undefined,
  work: Promise<T>,
  timeoutMs: number = ANSWER_TIMEOUT_MS,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    let stillLooks = 0;
    let looks = 0;
    timer = setInterval(() => {
      looks += 1;
      const isStill = initPid !== undefined && findStandstill(initPid) !== null;
      stillLooks = isStill ? stillLooks + 1 : 0;
      const isOver = looks * LOOK_INTERVAL_MS >= timeoutMs;
      if (isOver || stillLooks >= STILL_LOOKS_MAX) reject(unresponsive(initPid));
    }, LOOK_INTERVAL_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearInterval(timer);
  }
}
