import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import type { ChosenOptions } from "./link-options.ts";
import type { Link } from "./link-record.ts";
import type { LinkableSession } from "./linkable-session.ts";
import { forkFrom, goneOr, otherSession } from "./move-machine.ts";
import { configOf } from "./run-config.ts";
import type { RunMarks } from "./run-marks.ts";
import { claim, conflictOf, holderOf, release } from "./session-claims.ts";

/** A session that a thread has got, and where it stands if it was just forked. */
export interface OwnSession<S> {
  session: S;
  forkedFrom: Link | undefined;
}

/** Which session is the machine of which thread: the one that was linked, or a fork of it. */
export class ThreadSessions<S extends LinkableSession> {
  readonly #saver: BaseCheckpointSaver;
  readonly #linked: S;
  readonly #options: ChosenOptions<S>;
  readonly #marks: RunMarks;
  readonly #known: Map<string, S>;
  /** Forks by threads: a thread that has put nothing yet names its session nowhere else. */
  readonly #forks = new Map<string, S>();

  constructor(
    saver: BaseCheckpointSaver,
    linked: S,
    { options, marks }: { options: ChosenOptions<S>; marks: RunMarks },
  ) {
    this.#saver = saver;
    this.#linked = linked;
    this.#options = options;
    this.#marks = marks;
    this.#known = new Map([[linked.id, linked]]);
  }

  /** Returns the session of a link. @throws GRAPH_MACHINE_GONE */
  async of(link: Link | undefined): Promise<S> {
    if (link === undefined) return this.#linked;
    const known = this.#known.get(link.session);
    if (known !== undefined) return known;
    const { open } = this.#options;
    try {
      if (open !== undefined) return this.#know(await open(link.session));
    } catch (error) {
      throw goneOr(error, link);
    }
    return this.#linked;
  }

  /**
   * Makes the session of a link a thread's own; where it is another thread's, the thread gets a fork if
   * that was chosen.
   *
   * @throws GRAPH_CONFLICT | GRAPH_MACHINE_GONE
   */
  async own(thread: string, link: Link | undefined): Promise<OwnSession<S>> {
    const session = await (link === undefined
      ? (this.#forks.get(thread) ?? this.#linked)
      : this.of(link));
    if (link !== undefined && link.session !== session.id) throw otherSession(session, link);
    // A thread that has begun, and put nothing yet, has its mark.
    const isOver = async (holder: string) =>
      (await this.#saver.getTuple(configOf(holder))) === undefined &&
      !(await this.#marks.isBegun(holder));
    try {
      if (await claim(session, thread, isOver)) return { session, forkedFrom: undefined };
    } catch (error) {
      throw link === undefined ? error : goneOr(error, link);
    }
    if (this.#options.onConflict === "error") {
      throw conflictOf(session, thread, await holderOf(session));
    }
    return await this.fork(session, thread, link);
  }

  /** Starts a session for a thread, from a link or from what is there now. */
  async fork(session: S, thread: string, link: Link | undefined): Promise<OwnSession<S>> {
    const from = link ?? {
      session: session.id,
      checkpoint: (await session.checkpoint({ ifChanged: true })).id,
      taken: false,
    };
    const fork = this.#know(await forkFrom(session, from));
    // Nobody else knows it yet.
    await claim(fork, thread, () => Promise.resolve(true));
    this.#forks.set(thread, fork);
    return { session: fork, forkedFrom: { ...from, session: fork.id } };
  }

  /** Lets the session of a thread that is gone go. */
  async release(thread: string, link: Link | undefined): Promise<void> {
    this.#forks.delete(thread);
    await release(await this.of(link), thread);
  }

  #know(session: S): S {
    this.#known.set(session.id, session);
    return session;
  }
}
