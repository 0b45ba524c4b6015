/** Lists in one answer; what is left out is counted by its name. */
export class AnswerBudget {
  readonly leftOut: Record<string, string> = {};
  #bytesLeft: number;

  /** @param bytesMax  room for all lists together: an answer must fit into one frame. */
  constructor(bytesMax: number) {
    this.#bytesLeft = bytesMax;
  }

  /** Returns the beginning of a list, as much of it as there is room for. */
  keep<T>(list: readonly T[], what: string): T[] {
    const kept: T[] = [];
    for (const each of list) {
      this.#bytesLeft -= Buffer.byteLength(JSON.stringify(each));
      if (this.#bytesLeft < 0) break;
      kept.push(each);
    }
    const missing = list.length - kept.length;
    if (missing > 0) this.leftOut[`other ${what}`] = `${missing} more do not fit into an answer`;
    return kept;
  }
}
