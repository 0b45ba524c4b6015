import { disposable } from "./disposable.ts";
import type { Session } from "./session.ts";

/** New sessions, one at least; `await using` removes all of them at the end of its block. */
export type Forks = [Session, ...Session[]] & AsyncDisposable;

/** Gives an array of new sessions its end. */
export function asForks(sessions: Session[]): Forks {
  // Not an AsyncDisposableStack: Node has that from 24 on only.
  return disposable(sessions, async () => {
    const ends = await Promise.allSettled(sessions.map((each) => each[Symbol.asyncDispose]()));
    const failed = ends.find((end) => end.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }) as Session[] as Forks;
}
