import { WaypointError } from "../../shared/errors/index.ts";
import type { ReadContext } from "../moment/index.ts";

/** How long one reader may take; what it reads is unknown then. */
const READER_TIMEOUT_MS = 60_000;

/** Runs a reader that is told to stop, and no longer waited for, when its time is over. */
export async function withDeadline<T>(
  context: ReadContext,
  read: (bounded: ReadContext) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(READER_TIMEOUT_MS);
  const signal = AbortSignal.any([context.signal, timeout]);
  const over = Promise.withResolvers<never>();
  const giveUp = () =>
    over.reject(
      timeout.aborted
        ? new WaypointError("DEADLINE_EXCEEDED", `It took longer than ${READER_TIMEOUT_MS} ms.`)
        : new WaypointError("CANCELLED", "It was given up while it was read."),
    );
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([read({ ...context, signal }), over.promise]);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}
