import { createInterface } from "node:readline";
import { type RunningProgram, startProgram } from "../../base/index.ts";

/** How long an answer may take: the program works when nobody else wants a processor. */
const ANSWER_TIMEOUT_MS = 2_000;
/** Ends in a row after which it is left alone: without it images are slower to write, no more. */
const ENDS_MAX = 3;

/** One life of the program. */
interface Running {
  program: RunningProgram;
  answers: ((bytes: number) => void)[];
  /** Its end was asked for. */
  isUnwanted: boolean;
}

/**
 * Memory that the machine has at hand: native/warm-memory/warm-memory.c holds it, and lets go of it
 * right before images are written.
 *
 * The program is there while something is held. Its failure, or that it cannot be started, is no
 * failure of anything else: then nothing is held.
 */
export class WarmMemory {
  readonly #argv: () => readonly [string, ...string[]];
  readonly #onEnd: (how: string) => void;
  #running: Running | undefined;
  #lastEnd: Promise<unknown> = Promise.resolve();
  #endsInRow = 0;

  /**
   * @param argv  the program, with the most that it may ever hold.
   * @param onEnd  hears why it has ended where nobody asked it to.
   */
  constructor(argv: () => readonly [string, ...string[]], onEnd: (how: string) => void = () => {}) {
    this.#argv = argv;
    this.#onEnd = onEnd;
  }

  /** Has so much held, in the background and as the processors are free; with 0 the program ends. */
  keep(bytes: number): void {
    if (bytes <= 0) {
      this.#end();
      return;
    }
    if (this.#endsInRow >= ENDS_MAX) return;
    this.#running ??= this.#start();
    this.#running.program.stdin.write(`keep ${Math.floor(bytes)}\n`);
  }

  /** Lets go of all but so much, at once. */
  leave(bytes: number): void {
    this.#running?.program.stdin.write(`leave ${Math.floor(bytes)}\n`);
  }

  /** Returns how much is held; what the kernel has taken for others is not. */
  async heldBytes(): Promise<number> {
    const running = this.#running;
    if (running === undefined) return 0;
    const { promise, resolve } = Promise.withResolvers<number>();
    const timer = setTimeout(() => resolve(0), ANSWER_TIMEOUT_MS);
    running.answers.push(resolve);
    running.program.stdin.write("held\n");
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Lets go of all, and resolves when the program is gone. */
  async close(): Promise<void> {
    this.#end();
    await this.#lastEnd;
  }

  #end(): void {
    const running = this.#running;
    if (running === undefined) return;
    this.#running = undefined;
    this.#lastEnd = running.program.ended;
    running.isUnwanted = true;
    running.program.kill();
  }

  #start(): Running {
    const running: Running = {
      program: startProgram(this.#argv()),
      answers: [],
      isUnwanted: false,
    };
    const { program, answers } = running;
    program.stdin.on("error", () => {}); // Its end tells more.
    createInterface({ input: program.stdout }).on("line", (line) => {
      this.#endsInRow = 0;
      answers.shift()?.(Number(line));
    });
    void program.ended.then(({ how }) => {
      if (this.#running === running) this.#running = undefined;
      for (const answer of answers) answer(0);
      if (running.isUnwanted) return;
      this.#endsInRow += 1;
      this.#onEnd(how);
    });
    return running;
  }
}
