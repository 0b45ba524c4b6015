import { hasCode, WaypointError } from "../../shared/errors/index.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** How long the daemon may take to undo an operation before its client leaves. */
const ANSWER_WAIT_MS = 5_000;

/** What a call is given so that the user can end it. */
export interface CallEnds {
  /** Aborted when the user does not want the operation any more: the daemon is asked to undo it. */
  cancel: AbortSignal;
  /** Aborted when the daemon is not waited for any more. */
  signal: AbortSignal;
}

/**
 * Makes a call that Ctrl-C, SIGTERM and SIGHUP end.
 *
 * The first one asks the daemon to undo what it has begun, and waits for its answer; the second one,
 * or the answer's being late, ends this command. What was done before it could be cancelled is told
 * as such.
 *
 * @param tell  says something to the user.
 * @throws CANCELLED  the operation was undone, or is being undone or completed.
 */
export async function endedBySignals<T>(
  what: string,
  tell: (text: string) => void,
  call: (ends: CallEnds) => Promise<T>,
): Promise<T> {
  const cancel = new AbortController();
  const leave = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onSignal = () => {
    if (cancel.signal.aborted) return leave.abort();
    timer = setTimeout(() => leave.abort(), ANSWER_WAIT_MS);
    cancel.abort();
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  try {
    const result = await call({ cancel: cancel.signal, signal: leave.signal });
    if (cancel.signal.aborted) tell(`${what} was done before it could be cancelled.`);
    return result;
  } catch (error) {
    throw leave.signal.aborted && hasCode(error, "CANCELLED") ? leftAlone(what) : error;
  } finally {
    clearTimeout(timer);
    for (const name of SIGNALS) process.off(name, onSignal);
  }
}

function leftAlone(what: string): WaypointError {
  const message = `The daemon was told to cancel ${what} and has not answered yet.`;
  return new WaypointError("CANCELLED", message, {
    hint: "It undoes what it has begun, or completes what is past undoing; `waypoint op log` and `waypoint log` tell.",
  });
}
