import { resolveMoment } from "../../portable/lineage/index.ts";
import type { Place } from "../../shared/protocol/index.ts";
import { type Moment, MomentFiles, openMoment } from "../moment/index.ts";
import type { Engine } from "../ports/index.ts";

/** A place at a moment that the caller named. */
export type MomentPlace = Place & { moment: string };

/** The moments of one operation; each is opened once, so that a session is one instant. */
export class OpenMoments implements AsyncDisposable {
  readonly #engine: Engine;
  readonly #stack = new AsyncDisposableStack();
  readonly #byReference = new Map<string, { moment: Moment; files: MomentFiles }>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async open(reference: string): Promise<{ moment: Moment; files: MomentFiles }> {
    const known = this.#byReference.get(reference);
    if (known !== undefined) return known;
    const ref = resolveMoment(reference, this.#engine.catalog);
    const moment = this.#stack.use(await openMoment(ref, this.#engine));
    const opened = { moment, files: this.#stack.use(new MomentFiles(moment)) };
    this.#byReference.set(reference, opened);
    return opened;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
