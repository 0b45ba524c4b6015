import type { FullVerification } from "../../shared/protocol/index.ts";

/** What came of a run, and how long its fork stood meanwhile, in milliseconds. */
export interface Ran {
  verification: FullVerification;
  stoodMs: number;
}

/**
 * Returns what came of a run in the background; of one that has stood and failed, what comes of another that does
 * not stand. Clocks go on in what stands, and a program may have time limits of its own.
 */
export async function settleStood(
  run: (isBackground: boolean) => Promise<Ran>,
): Promise<FullVerification> {
  const { verification, stoodMs } = await run(true);
  const { exitCode, timedOut } = verification;
  if (stoodMs === 0 || exitCode === 0 || timedOut) return verification;
  return (await run(false)).verification;
}

/** Calls back when its time is over, in which that does not count for which its fork stands. */
export function startDeadline(
  { timeoutMs, stoodMs }: { timeoutMs: number; stoodMs: () => number },
  onOver: () => void,
): Disposable {
  let grantedMs = 0;
  let timer: NodeJS.Timeout;
  const wait = (leftMs: number) => {
    timer = setTimeout(() => {
      const owedMs = stoodMs() - grantedMs;
      grantedMs += owedMs;
      if (owedMs < 1) onOver();
      else wait(owedMs);
    }, leftMs);
  };
  wait(timeoutMs);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
