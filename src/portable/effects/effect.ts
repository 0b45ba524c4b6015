/** The process that does an effect: as long as it lives, nobody else does it. */
export interface EffectOwner {
  pid: number;
  /** When it began, by the kernel's clock: a process id is used again. */
  startTicks: number;
}

/** Something done to the outside world, or begun. */
export interface Effect {
  session: string;
  /** Names it: the same key is the same effect. */
  key: string;
  /** Of what it was done with; another one under the same key is another effect. */
  inputHash: string;
  /** What it is, for people. */
  what: string;
  /** Nothing takes it back. */
  irreversible: boolean;
  /** A command line that takes it back; `null` where there is none. */
  compensate: string | null;
  /** A function of the agent's program takes it back: nobody else can. */
  compensatedByProgram: boolean;
  /**
   * begun: it is being done, or nobody knows what became of it; done: with an outcome; failed: whoever
   * did it said so; compensating: it is being taken back, or nobody knows; compensated: it was.
   */
  state: "begun" | "done" | "failed" | "compensating" | "compensated";
  /** Why the last try to take it back failed. */
  compensationError: string | null;
  /** How often it was begun. */
  attempts: number;
  owner: EffectOwner | null;
  startedAt: string;
  /** `null` while it is begun. */
  endedAt: string | null;
  /** Its outcome as JSON, or why it failed; `null` for none. */
  outcome: string | null;
}

/** What is about to be done. */
export type EffectBegin = Pick<
  Effect,
  | "session"
  | "key"
  | "inputHash"
  | "what"
  | "irreversible"
  | "compensate"
  | "compensatedByProgram"
  | "owner"
>;

/** What became of it. */
export interface EffectEnd {
  session: string;
  key: string;
  /** Which time it was begun: an end that comes too late ends nothing. */
  attempt: number;
  state: "done" | "failed";
  outcome: string | null;
}

/** Effects of sessions. What it is told is on the disk when it returns. */
export interface EffectJournal extends Disposable {
  get(session: string, key: string): Effect | undefined;
  /** Returns all of a session, in the order in which they were first begun. */
  of(session: string): Effect[];
  /** Writes an effect down, in place of what was known of it. */
  put(effect: Effect): void;
  /** Gives a session copies of another one's effects. */
  copy(from: string, to: string): void;
  /** Forgets those of a session. */
  remove(session: string): void;
}
