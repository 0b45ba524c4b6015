import path from "node:path";
import type { Session } from "../../src/index.ts";

const SOURCES = path.resolve(import.meta.dirname, "programs");

/** Random numbers that are the same for the same seed. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Starts a program in a session that changes its memory in every way, and knows what each page has to be. */
export async function startRestless(session: Session, seed: number): Promise<void> {
  await session.exec(`gcc -O2 -pthread -o /root/restless ${SOURCES}/restless-*.c`);
  await session.exec(
    `cd /root && (setsid ./restless ${seed} 2 </dev/null >/dev/null 2>&1 & echo $! > /root/pid)`,
  );
  await session.exec("sleep 1");
}

/** Returns what it has found wrong, and whether it lives. */
export async function tellRestless(session: Session): Promise<string> {
  const { stdout } = await session.exec(
    "cat /root/wrong 2>/dev/null; kill -0 $(cat /root/pid) 2>/dev/null; echo alive $?",
  );
  return stdout.trim();
}

/** Fails where the program has found a page that is not what it was, or has ended. */
export async function requireUnharmed(session: Session, done: string): Promise<void> {
  const told = await tellRestless(session);
  // Not as an assertion, of which reports show the first words: what a page held says whose fault it is.
  if (told !== "alive 0") throw new Error(`${told} (${done})`);
}
