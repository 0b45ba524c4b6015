import { constants } from "node:os";
import type { OperationParsedInput } from "../protocol/index.ts";
import type { InitLink, ProgramResult } from "../terminal/index.ts";
import type { LiveInstance } from "./live-sessions.ts";
import type { StreamPeer } from "./stream-peer.ts";

const { SIGINT, SIGTERM, SIGKILL } = constants.signals;

/** Exit code of a command that was interrupted because its time was over, as in timeout(1). */
export const EXIT_CODE_TIMED_OUT = 124;
/** An interrupted command that goes on gets the next signal after this time. */
const ESCALATION_MS = 1_500;

type ExecInput = OperationParsedInput<"exec">;

/** Ends a command on time-out or at the client's wish: politely first, then with force. */
export class Interruption {
  timedOut = false;
  /** Resolves, with what is told of the command, when it goes on whatever it was sent. */
  readonly failed: Promise<ProgramResult>;
  readonly #fail: (end: ProgramResult) => void;
  readonly #link: InitLink;
  readonly #terminalId: number;
  readonly #commandId: number;
  readonly #isLive: boolean;
  readonly #peer: StreamPeer;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(live: LiveInstance, commandId: number, input: ExecInput, peer: StreamPeer) {
    const { promise, resolve } = Promise.withResolvers<ProgramResult>();
    this.failed = promise;
    this.#fail = resolve;
    this.#link = live.link;
    this.#terminalId = live.terminalId;
    this.#commandId = commandId;
    this.#isLive = input.shell === "live";
    this.#peer = peer;
    if (input.timeoutMs === undefined) return;
    this.#timer = setTimeout(() => {
      this.timedOut = true;
      void this.#escalate([SIGINT, SIGTERM, SIGKILL]);
    }, input.timeoutMs);
  }

  async send(signal: number): Promise<void> {
    await this.#link.signal(this.#commandId, signal).catch(() => {});
  }

  /**
   * Interrupts a command whose client has gone, as the loss of a connection does elsewhere: the
   * shell is for the next command. One that ignores this goes on, and its output is thrown away.
   */
  async abandon(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#link.discard(this.#commandId).catch(() => {});
    await this.#escalate([SIGINT, SIGINT]);
  }

  /** Sends nothing more: the command has ended. */
  cancel(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  async #escalate(signals: readonly number[]): Promise<void> {
    const [signal, ...later] = signals;
    if (signal === undefined) return await this.#giveUp();
    // The shell itself only ever gets an interrupt: the others would end it with the command.
    const isSafe = signal === SIGINT || !(await this.#isShellInForeground());
    await this.send(isSafe ? signal : SIGINT);
    if (this.#isOver) return;
    this.#timer = setTimeout(() => void this.#escalate(later), ESCALATION_MS);
  }

  async #giveUp(): Promise<void> {
    await this.#link.discard(this.#commandId).catch(() => {});
    this.#peer.notice("the command ignores the interruption and goes on without its output");
    this.#fail({ exitCode: EXIT_CODE_TIMED_OUT, signal: 0, reason: "aborted" });
  }

  async #isShellInForeground(): Promise<boolean> {
    if (!this.#isLive) return false;
    try {
      const { terminals } = await this.#link.list();
      const terminal = terminals.find(({ id }) => id === this.#terminalId);
      return terminal === undefined || terminal.foreground === terminal.pid;
    } catch {
      return true; // The session has ended, and the command with it.
    }
  }
}
