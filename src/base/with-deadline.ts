import { WaypointError } from "../shared/errors/index.ts";

/** Returns what `work` resolves to. @throws DEADLINE_EXCEEDED  it took longer; it goes on unseen. */
export async function withDeadline<T>(
  what: string,
  timeoutMs: number,
  work: Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new WaypointError("DEADLINE_EXCEEDED", `Waited ${timeoutMs} ms in vain for ${what}.`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
