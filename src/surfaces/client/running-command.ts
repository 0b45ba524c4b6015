import { constants } from "node:os";
import { type Deferred, deferred } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { OperationOutput } from "../../shared/protocol/index.ts";
import { ProgramAsker } from "./ask-program.ts";
import { collectOutput } from "./collect-output.ts";
import type { OperationStream } from "./operation-stream.ts";
import type { SpawnOptions } from "./options.ts";
import { OutputPipe } from "./output-pipe.ts";
import { openCommand, sendInput } from "./run-command.ts";

/** What a command that is to end gets, one after the other, each after so much time. */
const ENDING: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGKILL"];
const ENDING_STEP_MS = 1_500;

/**
 * A command that runs in a session, with its output as it comes.
 *
 * Nothing is read from the daemon before somebody reads {@link stdout} or {@link stderr}, or asks for
 * {@link exit}: until then the command is held up once the connection is full. With `await using` the
 * command ends with its block.
 */
export class RunningCommand implements AsyncDisposable {
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  readonly #pipes: { stdout: OutputPipe; stderr: OutputPipe };
  readonly #stream: Promise<OperationStream<OperationOutput<"exec">>>;
  readonly #options: SpawnOptions;
  readonly #asker: ProgramAsker;
  readonly #exit: Deferred<OperationOutput<"exec">> = deferred();
  #isDriven = false;
  #hasEnded = false;

  /** Not for callers: `Session.spawn` starts commands. */
  constructor(
    stateDir: string,
    session: string,
    command: string | readonly string[],
    options: SpawnOptions,
  ) {
    const drive = () => this.#drive();
    this.#pipes = { stdout: new OutputPipe(drive), stderr: new OutputPipe(drive) };
    this.stdout = this.#pipes.stdout;
    this.stderr = this.#pipes.stderr;
    this.#options = options;
    this.#asker = new ProgramAsker(stateDir, options.onApproval);
    this.#stream = openCommand(stateDir, session, command, options);
    // Who reads or waits is told; a caller who does neither must not crash here.
    this.#exit.promise.catch(() => {});
    this.#stream
      .then((stream) => sendInput(stream, options.input))
      // A connection that is lost is told by the reading side.
      .catch(() => {});
  }

  /**
   * Settles with the command's result; a command that fails is a result. Output that nobody reads is
   * dropped, but for `keepOutputBytes` of each stream.
   *
   * @throws as `exec`
   */
  get exit(): Promise<OperationOutput<"exec">> {
    this.#drive();
    return this.#exit.promise;
  }

  /** Sends a signal to the command; one that has ended gets none. @throws USAGE_INVALID */
  async kill(signal: NodeJS.Signals = "SIGINT"): Promise<void> {
    const number = constants.signals[signal];
    if (number === undefined) {
      throw new WaypointError("USAGE_INVALID", `There is no signal ${String(signal)}.`);
    }
    (await this.#stream).control({ control: "signal", signal: number });
  }

  /** Ends the command, if it runs still, and waits for its end: an interrupt first, then with force. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#pipes.stdout.discard();
    this.#pipes.stderr.discard();
    const ended = this.exit.then(
      () => {},
      () => {},
    );
    for (const signal of ENDING) {
      if (this.#hasEnded) return;
      await this.kill(signal).catch(() => {});
      await within(ended, ENDING_STEP_MS);
    }
    // It goes on whatever it was sent; the daemon throws its output away.
    if (!this.#hasEnded) (await this.#stream).close();
  }

  #drive(): void {
    if (this.#isDriven) return;
    this.#isDriven = true;
    void this.#read();
  }

  async #read(): Promise<void> {
    using asker = this.#asker;
    const { stdout, stderr } = this.#pipes;
    const { keepOutputBytes = 0, onNotice } = this.#options;
    try {
      const result = await collectOutput(await this.#stream, {
        keepOutputBytes,
        onStep: (approval) => asker.take(approval),
        onStdout: (bytes) => stdout.put(bytes),
        onStderr: (bytes) => stderr.put(bytes),
        ...(onNotice === undefined ? {} : { onNotice }),
      });
      this.#hasEnded = true;
      stdout.end();
      stderr.end();
      this.#exit.resolve(result);
    } catch (error) {
      this.#hasEnded = true;
      stdout.end({ error });
      stderr.end({ error });
      this.#exit.reject(error);
    }
  }
}

async function within(work: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
