import { type Deferred, deferred } from "../../base/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import type {
  ApprovalInfo,
  ControlMessage,
  OperationInput,
  OperationOutput,
} from "../../shared/protocol/index.ts";
import type { ConnectOptions } from "./connect.ts";
import { type OperationStream, openStream, type StreamEvent } from "./operation-stream.ts";
import { reconnect } from "./reconnect.ts";

type ExecStream = OperationStream<OperationOutput<"exec">>;

/** Input that is kept while a step waits, to be sent again; with more the step is not taken up again. */
const INPUT_KEPT_BYTES_MAX = 1024 * 1024;

/**
 * Runs a command as `openStream` does. Where the daemon is lost while the command waits for approval, and
 * nothing of it has begun, the same approval is waited for on the next daemon.
 *
 * @throws as {@link openStream}; APPROVAL_SETTLED  it was begun before the daemon was lost.
 */
export async function openExec(
  stateDir: string,
  input: OperationInput<"exec">,
  options: ConnectOptions = {},
): Promise<ExecStream> {
  const open = (approval: string | undefined, more: ConnectOptions) => {
    const request = approval === undefined ? input : { ...input, approval };
    return openStream(stateDir, "exec", request, { ...options, ...more });
  };
  return new HeldStream(stateDir, open, await open(undefined, {}), options.signal);
}

type Open = (approval: string | undefined, more: ConnectOptions) => Promise<ExecStream>;

/** One command over as many connections as its approval takes. */
class HeldStream implements ExecStream {
  readonly result: Promise<OperationOutput<"exec">>;
  readonly #stateDir: string;
  readonly #open: Open;
  readonly #leaving = new AbortController();
  readonly #signal: AbortSignal;
  readonly #settle: Deferred<OperationOutput<"exec">>;
  #inner: ExecStream;
  /** The step that waits; nothing of it has begun. */
  #held: ApprovalInfo | null = null;
  #isReopening = false;
  /** What was sent so far; `null` when it cannot be sent again. */
  #sent: Uint8Array[] | null = [];
  #sentBytes = 0;
  #isInputEnded = false;

  constructor(stateDir: string, open: Open, inner: ExecStream, signal: AbortSignal | undefined) {
    this.#stateDir = stateDir;
    this.#open = open;
    this.#inner = inner;
    const signals = [signal, this.#leaving.signal].filter((each) => each !== undefined);
    this.#signal = AbortSignal.any(signals);
    this.#settle = deferred();
    this.result = this.#settle.promise;
    // The iteration throws the same error; a caller who reads only that must not crash here.
    this.result.catch(() => {});
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamEvent, void> {
    try {
      yield* this.#events();
      this.#settle.resolve(await this.#inner.result);
    } catch (error) {
      this.#settle.reject(error);
      throw error;
    } finally {
      this.#settle.reject(new WaypointError("CANCELLED", "The command was left alone."));
      this.close();
    }
  }

  async *#events(): AsyncGenerator<StreamEvent, void> {
    for (;;) {
      try {
        for await (const event of this.#inner) {
          this.#note(event);
          yield event;
        }
        return;
      } catch (error) {
        const held = this.#held;
        const isLost = hasCode(error, "DAEMON_UNREACHABLE") && !this.#signal.aborted;
        if (!isLost || held === null || this.#sent === null) throw error;
        yield {
          kind: "notice",
          notice: `The daemon was lost while ${held.rule} waits; connecting…`,
        };
        await this.#reopen(held);
        yield { kind: "notice", notice: `Connected again; ${held.rule} waits on as ${held.id}.` };
      }
    }
  }

  #note(event: StreamEvent): void {
    const isWaiting = event.kind === "notice" && event.approval?.state === "waiting";
    if (isWaiting) this.#held = event.approval ?? null;
    else if (event.kind !== "notice" || event.approval !== undefined) this.#begun();
  }

  /** From here on it runs: what was sent is not needed again. */
  #begun(): void {
    this.#held = null;
    this.#sent = null;
  }

  async #reopen({ id }: ApprovalInfo): Promise<void> {
    this.#isReopening = true;
    const open = (more: ConnectOptions) => this.#open(id, { ...more, signal: this.#signal });
    try {
      this.#inner = await reconnect(this.#stateDir, open, this.#signal);
    } catch (error) {
      throw this.#leaving.signal.aborted ? this.#leaving.signal.reason : error;
    }
    this.#isReopening = false;
    for (const bytes of this.#sent ?? []) void this.#inner.write(bytes);
    if (this.#isInputEnded) this.#inner.endInput();
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#sentBytes += bytes.length;
    if (this.#sentBytes > INPUT_KEPT_BYTES_MAX) this.#sent = null;
    this.#sent?.push(bytes.slice());
    if (!this.#isReopening) await this.#inner.write(bytes);
  }

  endInput(): void {
    this.#isInputEnded = true;
    if (!this.#isReopening) this.#inner.endInput();
  }

  /** With no daemon to say it to, a signal leaves: nothing has begun. */
  control(message: ControlMessage): void {
    if (!this.#isReopening) this.#inner.control(message);
    else if (message.control !== "resize") this.#leave();
  }

  #leave(): void {
    this.#leaving.abort(new WaypointError("CANCELLED", "The step was left before it began."));
  }

  close(): void {
    this.#inner.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
