import { hasCode, toWaypointError } from "../../../shared/errors/index.ts";
import type { ApprovalInfo } from "../../../shared/protocol/index.ts";
import { ApprovalWatch, callOperation } from "../../client/index.ts";
import type { KeyPump } from "../terminal/key-pump.ts";
import { printable } from "../text/printable.ts";
import { answerChords, describeChord } from "./answer-chords.ts";
import { endsInSequence } from "./ends-in-sequence.ts";
import { heldLine } from "./held-line.ts";

const REDRAWN_EVERY_MS = 1_000;
/** What has printed nothing for so long is not in the middle of a picture. */
const QUIET_MS = 50;
/** How long it is told that somebody else was faster, or that it went wrong. */
const TOLD_MS = 3_000;

/** Where the line is drawn, and what draws the session's screen again when it goes. */
export interface PromptTerminal {
  keys: KeyPump;
  columns: () => number;
  /** Whatever was drawn over is drawn again. */
  redraw: () => void;
}

/**
 * The first line of an attached terminal, while a step of its session waits for a person: what waits, who
 * asks, until when, and the two chords that answer. What the program draws meanwhile stays its own; when
 * nothing waits any more its screen is drawn again. Disposing of it ends it.
 */
export class AttachedPrompt implements AsyncDisposable {
  readonly #stateDir: string;
  readonly #terminal: PromptTerminal;
  readonly #chords: ReturnType<typeof answerChords>;
  readonly #watch: ApprovalWatch;
  readonly #waiting = new Map<string, ApprovalInfo>();
  readonly #timer: NodeJS.Timeout;
  readonly #watching: Promise<void>;
  #quiet: NodeJS.Timeout | undefined;
  #tail: Uint8Array = new Uint8Array();
  #told: { text: string; untilMs: number } | null = null;
  #isDrawn = false;
  /** Before the session's first picture the screen is the person's own. */
  #isShown = false;

  constructor(
    stateDir: string,
    { session, detachKeys }: { session: string; detachKeys: string },
    terminal: PromptTerminal,
  ) {
    this.#stateDir = stateDir;
    this.#terminal = terminal;
    this.#chords = answerChords(detachKeys);
    this.#watch = new ApprovalWatch(stateDir, { session });
    this.#timer = setInterval(() => this.#draw(), REDRAWN_EVERY_MS);
    this.#watching = this.#follow();
  }

  /** Notes what the program has just printed: the line is drawn again behind it. */
  printed(bytes: Uint8Array): void {
    this.#tail = Buffer.concat([this.#tail, bytes]).subarray(-256);
    if (!this.#isShown) this.#show();
    if (!this.#isDrawn) return;
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#draw(), QUIET_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#quiet);
    this.#terminal.keys.answerWith(null);
    if (this.#isDrawn) process.stdout.write("\u001b7\u001b[1;1H\u001b[0m\u001b[K\u001b8");
    await this.#watch[Symbol.asyncDispose]();
    await this.#watching;
  }

  async #follow(): Promise<void> {
    try {
      for await (const step of this.#watch) {
        // One whose command has gone waits for that command first.
        if (step.state === "waiting" && step.isWaitedFor) this.#waiting.set(step.id, step);
        else this.#waiting.delete(step.id);
        this.#offer();
        this.#draw();
      }
    } catch {
      // The attachment itself says what became of the session and the daemon.
    }
  }

  #show(): void {
    this.#isShown = true;
    this.#offer();
    this.#draw();
  }

  get #first(): ApprovalInfo | undefined {
    return this.#waiting.values().next().value;
  }

  /** Lets the chords answer what is shown, and nothing that is not. */
  #offer(): void {
    const step = this.#isShown ? this.#first : undefined;
    const { approve, deny } = this.#chords;
    this.#terminal.keys.answerWith(
      step === undefined
        ? null
        : { id: step.id, approve, deny, answer: (answer) => void this.#answer(step, answer) },
    );
  }

  async #answer(step: ApprovalInfo, answer: "approve" | "deny"): Promise<void> {
    const input = { approval: step.id };
    try {
      await callOperation(this.#stateDir, answer, input, { surface: "terminal" });
    } catch (error) {
      const { message } = toWaypointError(error);
      const isLate = hasCode(error, "APPROVAL_SETTLED");
      const text = isLate ? `Too late: ${message}` : message;
      this.#told = { text: printable(text), untilMs: performance.now() + TOLD_MS };
      this.#draw();
    }
  }

  #draw(): void {
    if (!this.#isShown || endsInSequence(this.#tail)) return;
    const text = this.#text();
    if (text === null) {
      if (this.#isDrawn) this.#terminal.redraw();
      this.#isDrawn = false;
      return;
    }
    const columns = this.#terminal.columns();
    // Reversed, from its first to its last column; the cursor stays where the program has it.
    const line = text.padEnd(columns - 1).slice(0, Math.max(0, columns - 1));
    process.stdout.write(`\u001b7\u001b[0;7m\u001b[1;1H${line}\u001b[K\u001b[0m\u001b8`);
    this.#isDrawn = true;
  }

  #text(): string | null {
    if (this.#told !== null && performance.now() < this.#told.untilMs) return this.#told.text;
    this.#told = null;
    const step = this.#first;
    if (step === undefined) return null;
    const { approve, deny } = this.#chords;
    const keys = `${describeChord(approve)} approves, ${describeChord(deny)} denies`;
    return heldLine(step, { columns: this.#terminal.columns(), nowMs: Date.now(), keys });
  }
}
