import type { Child } from "./start-child.ts";

/** So long something stands in all; then it runs to its end, however busy the machine is. */
export const STOOD_MS_MAX = 1_000;

/** What goes on in the background, and can stand. */
export interface Stoppable {
  /** Returns whether it stands now. */
  stop: () => boolean;
  letOn: () => void;
}

/** What is under way, and how long it has stood. */
interface UnderWay extends Stoppable {
  beganAtMs: number;
  stoodMs: number;
  /** It may stand as long as it has run, too: it may take long, and so may what it stands for. */
  isLong: boolean;
  stopped: { atMs: number; timer: NodeJS.Timeout } | null;
}

/**
 * Programs for which nobody waits: they stand while something is done that somebody waits for. The lowest
 * priority is not enough: the processors of a machine share caches, the way to memory, and often each other.
 *
 * Each has a process group of its own: when this process ends while they stand, the kernel ends them by SIGHUP.
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

  /**
   * Counts what may take long among them until that is disposed of: it stands for as long as it has run at
   * most, and {@link STOOD_MS_MAX}. It runs on at its end.
   */
  addLong(work: Stoppable): Disposable {
    const begun = this.#begin(work, { isLong: true });
    const end = () => {
      this.#letOn(begun);
      this.#forget(begun);
    };
    return { [Symbol.dispose]: end };
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
    const beganAtMs = performance.now();
    const work: UnderWay = { stop, letOn, isLong, beganAtMs, stoodMs: 0, stopped: null };
    this.#underWay.add(work);
    if (this.#isHeld) this.#stop(work);
    return work;
  }

  #forget(work: UnderWay): void {
    clearTimeout(work.stopped?.timer);
    this.#underWay.delete(work);
  }

  #stop(work: UnderWay): void {
    const leftMs = leftToStandMs(work);
    if (work.stopped !== null || leftMs <= 0 || !work.stop()) return;
    const timer = setTimeout(() => this.#letOn(work), leftMs);
    timer.unref();
    work.stopped = { atMs: performance.now(), timer };
  }

  #letOn(work: UnderWay): void {
    if (work.stopped === null) return;
    clearTimeout(work.stopped.timer);
    work.stoodMs += performance.now() - work.stopped.atMs;
    work.stopped = null;
    work.letOn();
  }
}

function leftToStandMs({ isLong, beganAtMs, stoodMs }: UnderWay): number {
  const ranMs = performance.now() - beganAtMs - stoodMs;
  return STOOD_MS_MAX + (isLong ? ranMs : 0) - stoodMs;
}

/** Those of this process. */
export const backgroundPrograms = new BackgroundPrograms();
