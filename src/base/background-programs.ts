import type { Child } from "./start-child.ts";

/** So long something stands in all; then it runs on, however busy the machine is. */
export const STOOD_MS_MAX = 1_000;
/** What is left to stand has to be worth a stop. */
const STOP_MS_MIN = 50;
/** Until something is let on once more that could not be. */
const RETRY_MS = 100;

/** What goes on in the background, and can stand. */
export interface Stoppable {
  /** Returns whether it stands now. */
  stop: () => boolean;
  letOn: () => void;
}

/** How long something has stood until now, in milliseconds. */
export interface Stood extends Disposable {
  stoodMs: () => number;
}

/** What is under way. */
interface UnderWay extends Stoppable {
  /** It may stand as long as it has run, {@link STOOD_MS_MAX} at a time: it may take long. */
  isLong: boolean;
  leftMs: number;
  ranSinceMs: number;
  stoodMs: number;
  stopped: { atMs: number; timer: NodeJS.Timeout } | null;
}

/**
 * What nobody waits for: it stands while something is done that somebody waits for. The lowest priority is not
 * enough: the processors of a machine share caches, the way to memory, and often each other.
 *
 * A program has a process group of its own: when this process ends while it stands, the kernel ends it by SIGHUP.
 */
export class BackgroundPrograms {
  readonly #underWay = new Set<UnderWay>();
  #isHeld = false;

  /** Counts a program among them until it has ended. */
  add(child: Pick<Child, "kill" | "once">): void {
    const program = this.#begin(
      { stop: () => child.kill("SIGSTOP"), letOn: () => void child.kill("SIGCONT") },
      { isLong: false },
    );
    child.once("exit", () => this.#forget(program));
  }

  /** Counts what may take long among them until that is disposed of; it runs on then. */
  addLong(work: Stoppable): Stood {
    const begun = this.#begin(work, { isLong: true });
    const stoodMs = () =>
      begun.stoodMs + (begun.stopped === null ? 0 : performance.now() - begun.stopped.atMs);
    const end = () => {
      this.#letOn(begun);
      this.#forget(begun);
    };
    return { stoodMs, [Symbol.dispose]: end };
  }

  /** They stand from now on. */
  hold(): void {
    this.#isHeld = true;
    for (const work of this.#underWay) this.#stop(work);
  }

  /** They go on. */
  goOn(): void {
    this.#isHeld = false;
    for (const work of this.#underWay) this.#letOn(work);
  }

  #begin({ stop, letOn }: Stoppable, { isLong }: Pick<UnderWay, "isLong">): UnderWay {
    const times = { leftMs: STOOD_MS_MAX, ranSinceMs: performance.now(), stoodMs: 0 };
    const work: UnderWay = { stop, letOn, isLong, ...times, stopped: null };
    this.#underWay.add(work);
    if (this.#isHeld) this.#stop(work);
    return work;
  }

  #forget(work: UnderWay): void {
    clearTimeout(work.stopped?.timer);
    this.#underWay.delete(work);
  }

  #stop(work: UnderWay): void {
    if (work.stopped !== null) return;
    const earnedMs = work.isLong ? performance.now() - work.ranSinceMs : 0;
    work.leftMs = Math.min(STOOD_MS_MAX, work.leftMs + earnedMs);
    work.ranSinceMs = performance.now();
    if (work.leftMs < STOP_MS_MIN || !succeeds(work.stop)) return;
    const timer = setTimeout(() => this.#letOn(work), work.leftMs).unref();
    work.stopped = { atMs: performance.now(), timer };
  }

  #letOn(work: UnderWay): void {
    const { stopped } = work;
    if (stopped === null) return;
    clearTimeout(stopped.timer);
    const isOn = succeeds(() => {
      work.letOn();
      return true;
    });
    if (!isOn) {
      stopped.timer = setTimeout(() => this.#letOn(work), RETRY_MS).unref();
      return;
    }
    const stoodMs = performance.now() - stopped.atMs;
    work.stoodMs += stoodMs;
    work.leftMs -= stoodMs;
    work.ranSinceMs = performance.now();
    work.stopped = null;
  }
}

/** Whoever waits for something else does not learn that this could not be. */
function succeeds(act: () => boolean): boolean {
  try {
    return act();
  } catch {
    return false;
  }
}

/** Those of this process. */
export const backgroundPrograms = new BackgroundPrograms();
