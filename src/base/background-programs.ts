import type { Child } from "./start-child.ts";

/** So long a program stands in all; then it runs to its end, however busy the machine is. */
export const STOOD_MS_MAX = 1_000;

/** A program for which nobody waits. */
interface BackgroundProgram {
  child: Pick<Child, "kill">;
  leftMs: number;
  stopped: { atMs: number; timer: NodeJS.Timeout } | null;
}

/**
 * Programs for which nobody waits: they stand while something is done that somebody waits for. The lowest
 * priority is not enough: the processors of a machine share caches, the way to memory, and often each other.
 *
 * Each has a process group of its own: when this process ends while they stand, the kernel ends them by SIGHUP.
 */
export class BackgroundPrograms {
  readonly #programs = new Set<BackgroundProgram>();
  #isHeld = false;

  /** Counts a program among them until it has ended. */
  add(child: Pick<Child, "kill" | "once">): void {
    const program: BackgroundProgram = { child, leftMs: STOOD_MS_MAX, stopped: null };
    this.#programs.add(program);
    child.once("exit", () => {
      clearTimeout(program.stopped?.timer);
      this.#programs.delete(program);
    });
    if (this.#isHeld) this.#stop(program);
  }

  /** They stand from now on. */
  hold(): void {
    this.#isHeld = true;
    for (const program of this.#programs) this.#stop(program);
  }

  /** They go on. */
  goOn(): void {
    this.#isHeld = false;
    for (const program of this.#programs) this.#letOn(program);
  }

  #stop(program: BackgroundProgram): void {
    if (program.stopped !== null || program.leftMs <= 0) return;
    if (!program.child.kill("SIGSTOP")) return;
    const timer = setTimeout(() => this.#letOn(program), program.leftMs);
    timer.unref();
    program.stopped = { atMs: performance.now(), timer };
  }

  #letOn(program: BackgroundProgram): void {
    if (program.stopped === null) return;
    clearTimeout(program.stopped.timer);
    program.leftMs -= performance.now() - program.stopped.atMs;
    program.stopped = null;
    program.child.kill("SIGCONT");
  }
}

/** Those of this process. */
export const backgroundPrograms = new BackgroundPrograms();
