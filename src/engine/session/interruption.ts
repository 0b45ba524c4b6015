import { constants } from "node:os";
import { withDeadline } from "../../base/index.ts";
import type { InitLink, ProgramResult } from "../../linux/terminal/index.ts";
import { hasCode } from "../../shared/errors/index.ts";
import type { OperationParsedInput } from "../../shared/protocol/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { StreamClient } from "../ports/index.ts";

const { SIGINT, SIGTERM, SIGKILL } = constants.signals;

/** Exit code of a command that was interrupted because its time was over, as in timeout(1). */
export const EXIT_CODE_TIMED_OUT = 124;
/** An interrupted command that goes on gets the next signal after this time. */
const ESCALATION_MS = 1_500;
/** An init that stands still takes as long to be found out; one in a dump answers after it. */
const ANSWER_TIMEOUT_MS = 4_000;
/** What a process group gets, one after the other, while it is the one in the foreground. */
const ESCALATION: readonly number[] = [SIGINT, SIGTERM, SIGKILL];
const ESCALATION_POLITE: readonly number[] = [SIGINT, SIGINT];
/**
 * A loop of programs that loses an interrupt goes on with a process group that was sent nothing, and
 * is interrupted again. Init picks the moment (docs/init-protocol.md), so few are lost.
 */
const SIGNALS_MAX = 5;
/** What init tells between two programs. */
const NO_GROUP = 0;
/** A command outside of the shell has one group from its start to its end. */
const OWN_GROUP = -1;

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
  readonly #client: StreamClient;
  #timer: NodeJS.Timeout | undefined;
  /** The process group that was last sent a signal, and how many it was sent. */
  #group = NO_GROUP;
  #sentToGroup = 0;
  #sent = 0;
  #isOver = false;

  constructor(live: LiveInstance, commandId: number, input: ExecInput, client: StreamClient) {
    const { promise, resolve } = Promise.withResolvers<ProgramResult>();
    this.failed = promise;
    this.#fail = resolve;
    this.#link = live.link;
    this.#terminalId = live.terminalId;
    this.#commandId = commandId;
    this.#isLive = input.shell === "live";
    this.#client = client;
    if (input.timeoutMs === undefined) return;
    this.#timer = setTimeout(() => {
      this.timedOut = true;
      void this.#escalate(ESCALATION);
    }, input.timeoutMs);
  }

  /** Sends a signal; an init that does not answer can pass none on, and is not waited for. */
  async send(signal: number): Promise<void> {
    await this.#ask(() => this.#link.signal(this.#commandId, signal));
  }

  /**
   * Interrupts a command whose client has gone, as the loss of a connection does elsewhere: the
   * shell is for the next command. One that ignores this goes on, and its output is thrown away.
   */
  async abandon(): Promise<void> {
    clearTimeout(this.#timer);
    void this.#link.discard(this.#commandId).catch(() => {});
    await this.#escalate(ESCALATION_POLITE);
  }

  /** Sends nothing more: the command has ended. */
  cancel(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  /** Sends what is next: a process group that has come to the foreground since is asked first. */
  async #escalate(signals: readonly number[]): Promise<void> {
    const group = await this.#foreground();
    if (this.#isOver) return;
    if (group !== this.#group || group === NO_GROUP) this.#sentToGroup = 0;
    this.#group = group;
    const signal = signals[this.#sentToGroup];
    if (signal === undefined || this.#sent === SIGNALS_MAX) {
      this.#client.notice("the command ignores the interruption and goes on without its output");
      return this.#giveUp();
    }
    this.#sentToGroup += 1;
    this.#sent += 1;
    // To the shell itself init sends no more than an interrupt, whatever is asked for.
    await this.send(signal);
    if (this.#isOver) return;
    this.#timer = setTimeout(() => void this.#escalate(signals), ESCALATION_MS);
  }

  #giveUp(): void {
    this.#isOver = true;
    void this.#link.discard(this.#commandId).catch(() => {});
    this.#fail({ exitCode: EXIT_CODE_TIMED_OUT, signal: 0, reason: "aborted" });
  }

  /** The process group that a signal would reach. */
  async #foreground(): Promise<number> {
    if (!this.#isLive) return OWN_GROUP;
    const state = await this.#ask(() => this.#link.list());
    return state?.terminals.find(({ id }) => id === this.#terminalId)?.foreground ?? NO_GROUP;
  }

  /**
   * Asks init; `null` when the session has ended, and the command with it, and when init does not
   * answer: nothing can interrupt the command then, and it is given up.
   */
  async #ask<T>(request: () => Promise<T>): Promise<T | null> {
    try {
      return await withDeadline("the session's first process", ANSWER_TIMEOUT_MS, request());
    } catch (error) {
      const isSilent =
        hasCode(error, "SESSION_UNRESPONSIVE") || hasCode(error, "DEADLINE_EXCEEDED");
      if (isSilent && !this.#isOver) {
        this.#client.notice(`the command was left alone: ${error.message}`);
        this.#giveUp();
      }
      return null;
    }
  }
}
