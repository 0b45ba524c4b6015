import type { Effect, EffectJournal } from "./effect.ts";

/** A journal that is opened when there is something in it, or first to be written down. */
export class LazyEffects implements EffectJournal {
  readonly #isThere: () => boolean;
  readonly #open: () => EffectJournal;
  #journal: EffectJournal | undefined;

  constructor({ isThere, open }: { isThere: () => boolean; open: () => EffectJournal }) {
    this.#isThere = isThere;
    this.#open = open;
  }

  [Symbol.dispose](): void {
    this.#journal?.[Symbol.dispose]();
    this.#journal = undefined;
  }

  get(session: string, key: string): Effect | undefined {
    return this.#found()?.get(session, key);
  }

  of(session: string): Effect[] {
    return this.#found()?.of(session) ?? [];
  }

  put(effect: Effect): void {
    this.#journal ??= this.#open();
    this.#journal.put(effect);
  }

  copy(from: string, to: string): void {
    this.#found()?.copy(from, to);
  }

  remove(session: string): void {
    this.#found()?.remove(session);
  }

  #found(): EffectJournal | undefined {
    if (this.#journal === undefined && this.#isThere()) this.#journal = this.#open();
    return this.#journal;
  }
}
