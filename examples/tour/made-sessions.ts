import type { Session } from "../../src/index.ts";

/** The sessions that this run makes, also one that is still starting when the tour is interrupted. */
export class MadeSessions {
  main: Session | null = null;
  readonly forks: Session[] = [];
  readonly #starting: Promise<unknown>[] = [];

  async addMain(starting: Promise<Session>): Promise<Session> {
    this.#starting.push(starting);
    this.main = await starting;
    return this.main;
  }

  async addForks(starting: Promise<Session[]>): Promise<Session[]> {
    this.#starting.push(starting);
    this.forks.push(...(await starting));
    return this.forks;
  }

  /** Removes the forks and, unless `keepMain`, the session. */
  async remove({ keepMain }: { keepMain: boolean }): Promise<void> {
    await Promise.allSettled(this.#starting);
    const isMainRemoved = this.main !== null && !keepMain;
    await removeSessions(isMainRemoved ? [...this.forks, this.main as Session] : this.forks);
  }
}

/** Removes sessions; one that cannot be removed does not keep the others. */
async function removeSessions(sessions: Session[]): Promise<void> {
  for (const session of sessions) {
    try {
      await session.remove({ force: true });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      console.error(`The session ${session.name} could not be removed: ${reason}`);
      process.exitCode = 1;
    }
  }
}
