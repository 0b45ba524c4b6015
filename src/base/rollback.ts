/**
 * Undoes the finished steps of an operation that fails half-way.
 *
 * Steps are undone in reverse order when the scope ends, unless {@link keep} was called.
 * A failing step does not stop the others; their failures are thrown together.
 */
export class Rollback implements AsyncDisposable {
  #steps: { what: string; undo: () => unknown }[] = [];

  /** Remembers how to undo a step that has just succeeded. */
  defer(what: string, undo: () => unknown): void {
    this.#steps.push({ what, undo });
  }

  /** Declares the operation successful: nothing will be undone. */
  keep(): void {
    this.#steps = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const failures: Error[] = [];
    for (const { what, undo } of this.#steps.toReversed()) {
      try {
        await undo();
      } catch (cause) {
        failures.push(new Error(`could not ${what}: ${String(cause)}`, { cause }));
      }
    }
    this.#steps = [];
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join("; "));
  }
}
