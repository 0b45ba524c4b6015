import {
  type BackgroundPrograms,
  backgroundPrograms,
  type Stood,
  type Stoppable,
} from "../../base/index.ts";

/** Longest time for which anything in the background may be put off. */
export const PUT_OFF_MS_MAX = 2_000;
/** An answer has to get to whoever waits, who often asks for something else at once. */
const REST_MS = 40;

/** Who waits for a command longer than that does not feel what goes on beside it. */
const COMMAND_MS_MAX = 1_000;

/** What stands, as programs of the background do. */
type Held = Pick<BackgroundPrograms, "hold" | "goOn" | "addLong">;

/** What is put off now. */
interface PutOff {
  goOn: () => void;
}

/**
 * Whose turn it is: what nobody waits for (copies, stories, standbys) asks before each of its steps, and
 * goes on when nothing is done that somebody waits for, an operation or a command. A program of it that runs already stands meanwhile.
 *
 * Nothing waits for its turn for longer than {@link PUT_OFF_MS_MAX} after it was asked for, however busy it is;
 * at all where memory is short, since what is put off holds it; and while somebody waits for just that.
 */
export class Turns {
  readonly #isPressed: () => boolean;
  readonly #programs: Held;
  readonly #putOff = new Set<PutOff>();
  #atWork = 0;
  #hurried = 0;
  #endedAtMs = Number.NEGATIVE_INFINITY;
  #isOpen = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param isPressed  tells whether memory is short. @defaultValue never
   * @param programs  what runs for nobody who waits. @defaultValue those of this process
   */
  constructor(isPressed: () => boolean = () => false, programs: Held = backgroundPrograms) {
    this.#isPressed = isPressed;
    this.#programs = programs;
  }

  /** Something begins that somebody waits for. */
  begin(): void {
    this.#atWork += 1;
    clearTimeout(this.#timer);
    if (!this.#isOpen && this.#hurried === 0 && !this.#isPressed()) this.#programs.hold();
  }

  /** It has ended. */
  end(): void {
    this.#atWork -= 1;
    this.#endedAtMs = performance.now();
    if (this.#atWork > 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#releaseAll(), REST_MS);
  }

  /** A command begins that somebody waits for: it counts until it is disposed of, or for a second. */
  command(): Disposable {
    let isEnded = false;
    const end = () => {
      if (isEnded) return;
      isEnded = true;
      clearTimeout(timer);
      this.end();
    };
    const timer = setTimeout(end, COMMAND_MS_MAX).unref();
    this.begin();
    return { [Symbol.dispose]: end };
  }

  /**
   * Something that may take long and nobody waits for is under way until this is disposed of. It stands as programs
   * do, for half of its time at most and a second.
   */
  underWay(work: Stoppable): Stood {
    return this.#programs.addLong(work);
  }

  /** Somebody waits for what goes on in the background: nothing is put off until this is disposed of. */
  hurry(): Disposable {
    this.#hurried += 1;
    this.#releaseAll();
    const end = () => {
      this.#hurried -= 1;
    };
    return { [Symbol.dispose]: end };
  }

  /** Nothing is put off any more: all is to come to its end. */
  open(): void {
    this.#isOpen = true;
    clearTimeout(this.#timer);
    this.#releaseAll();
  }

  /** Whether all is to come to its end: what begins by itself must not. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Resolves when it is the turn of something in the background.
   *
   * @param askedAtMs  when it was asked for, by the clock of `performance`.
   * @param signal  it is not needed any more: resolves, too.
   */
  async turn(askedAtMs: number, signal?: AbortSignal): Promise<void> {
    const leftMs = askedAtMs + PUT_OFF_MS_MAX - performance.now();
    if (leftMs <= 0 || signal?.aborted || this.#isFree() || this.#isPressed()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const putOff: PutOff = { goOn: resolve };
    const timer = setTimeout(resolve, leftMs);
    this.#putOff.add(putOff);
    signal?.addEventListener("abort", putOff.goOn, { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#putOff.delete(putOff);
      signal?.removeEventListener("abort", putOff.goOn);
    }
  }

  #isFree(): boolean {
    if (this.#isOpen || this.#hurried > 0) return true;
    return this.#atWork === 0 && performance.now() - this.#endedAtMs >= REST_MS;
  }

  #releaseAll(): void {
    this.#programs.goOn();
    for (const { goOn } of this.#putOff) goOn();
  }
}
