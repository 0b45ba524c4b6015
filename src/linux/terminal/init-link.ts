import { constants } from "node:os";
import type { InitAddress } from "./channel.ts";
import { type CallOptions, CONNECT_TIMEOUT_MS, Connections } from "./connections.ts";
import { encodeNumbers, type Frame, FrameKind } from "./frames.ts";
import { type InitState, parseCommands, parseTerminals, type TerminalState } from "./init-state.ts";
import { encodeProgram, type ProgramSpec } from "./program-spec.ts";
import { CommandReader, type Reader, type ReaderHost, TerminalReader } from "./readers.ts";
import { type RunInShellOptions, scriptPayloads } from "./script-payloads.ts";
import { SpareChannel } from "./spare-channel.ts";

/** Small enough for init's input buffer to take several, large enough for a paste to be fast. */
const WRITE_CHUNK_BYTES = 16 * 1024;

const LIST_TERMINALS = 1;
const LIST_COMMANDS = 2;

/**
 * Everything the daemon says to one session's first process.
 *
 * Survives dumps: between {@link quiesce} and {@link resume} no connection exists, calls wait, and
 * readers go on afterwards where they were.
 */
export class InitLink {
  /** Resolves when the first process is gone, or {@link end} was called. */
  readonly ended: Promise<void>;
  readonly #connections: Connections;
  readonly #readers = new Set<Reader>();
  readonly #spare: SpareChannel;
  #resolveEnded!: () => void;
  #actionCount = 0;

  /**
   * Connects, trying again until init answers.
   *
   * @throws SESSION_UNRESPONSIVE  it did not answer within `timeoutMs`.
   * @throws SESSION_ENDED         it is gone.
   */
  static async connect(
    socketPath: string,
    options: { timeoutMs?: number; initPid?: number } = {},
  ): Promise<InitLink> {
    const { initPid } = options;
    const link = new InitLink({ socketPath, ...(initPid === undefined ? {} : { initPid }) });
    await link.#connections.connect(options.timeoutMs ?? CONNECT_TIMEOUT_MS);
    return link;
  }

  private constructor(address: InitAddress) {
    this.#connections = new Connections(address, (reason) => this.end(reason));
    this.#spare = new SpareChannel(this.#connections);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /** Counts what init was asked to do; while it stays the same, the daemon gave no cause for anything. */
  get requestCount(): number {
    return this.#connections.requestCount;
  }

  /** Counts what init was asked to do for somebody, to whom it was not only to tell how things are. */
  get actionCount(): number {
    return this.#actionCount;
  }

  /** Whether a dump is under way, or about to begin: calls wait. */
  get isQuiesced(): boolean {
    return this.#connections.isQuiesced;
  }

  /** Returns all terminals and commands. */
  async list(): Promise<InitState> {
    const [terminals, commands] = await Promise.all([
      this.#listAll(LIST_TERMINALS, parseTerminals),
      this.#listAll(LIST_COMMANDS, parseCommands),
    ]);
    return { terminals, commands };
  }

  /** Returns one terminal, with one request; `undefined` when there is none. */
  async terminal(id: number): Promise<TerminalState | undefined> {
    const payload = encodeNumbers(LIST_TERMINALS, id - 1);
    const frame = await this.#call(FrameKind.list, 0, { payload });
    return parseTerminals(frame.payload.toString("utf8")).find((each) => each.id === id);
  }

  /** Starts a program on a new terminal and returns the terminal's id. @throws TOOL_FAILED  it cannot be started. */
  async openTerminal(
    spec: ProgramSpec & { cols: number; rows: number },
    signal?: AbortSignal,
  ): Promise<number> {
    const payload = Buffer.concat([encodeSize(spec.cols, spec.rows), encodeProgram(spec)]);
    const onLate = ({ id }: Frame) => void this.closeTerminal(id).catch(() => {});
    return (await this.#call(FrameKind.openTerminal, 0, { payload, signal, onLate })).id;
  }

  /** Starts the ended program of a terminal again. @throws TOOL_FAILED  it still runs. */
  async respawnTerminal(id: number): Promise<void> {
    await this.#call(FrameKind.respawn, id);
  }

  /** Starts a process with pipes of its own and returns the command's id. @throws TOOL_FAILED  it cannot be started. */
  async spawn(spec: ProgramSpec, signal?: AbortSignal): Promise<number> {
    const options = { signal, onLate: (answer: Frame) => this.giveUp(answer.id) };
    const payload = encodeProgram(spec);
    return (await this.#call(FrameKind.spawn, 0, { ...options, payload })).id;
  }

  /**
   * Runs a script in the live shell of a terminal and returns the command's id.
   *
   * It waits its turn while the shell is busy.
   *
   * @throws USAGE_INVALID  the script is too large or contains NUL.
   * @throws TOOL_FAILED    there is no such terminal, or its program has ended.
   */
  async runInShell(
    terminalId: number,
    script: string,
    options: RunInShellOptions,
  ): Promise<number> {
    const { signal } = options;
    const onLate = (answer: Frame) => this.giveUp(answer.id);
    const [payload, ...rest] = scriptPayloads(script, options);
    const { id } = await this.#call(FrameKind.shellCommand, terminalId, {
      ...{ payload, signal, onLate },
    });
    for (const more of rest) {
      await this.#call(FrameKind.shellAppend, id, { payload: more, signal, onLate });
    }
    return id;
  }

  /** Connects for a reader that comes in a moment, so that it need not wait for that. */
  prepareReader(): void {
    if (this.#connections.failure === undefined && !this.#connections.isQuiesced) {
      this.#spare.prepare();
    }
  }

  /** Follows a terminal from an offset, by default from the oldest byte kept. */
  readTerminal(id: number, fromOffset: bigint | number = 0n): TerminalReader {
    return this.#startReader(new TerminalReader(this.#readerHost(), id, BigInt(fromOffset)));
  }

  /** Follows a command; init forgets it when its end was read. One reader at a time. */
  readCommand(id: number): CommandReader {
    return this.#startReader(new CommandReader(this.#readerHost(), id, 0n));
  }

  /** Writes to a terminal or to the input of an own command; resolves when init has taken all of it. */
  write(id: number, bytes: Uint8Array): Promise<void> {
    // A connection of its own: a terminal that takes no input must not hold up other requests.
    return this.#connections.inOrder(`input ${id}`, async (key) => {
      for (let at = 0; at < bytes.length; at += WRITE_CHUNK_BYTES) {
        const payload = bytes.subarray(at, at + WRITE_CHUNK_BYTES);
        // It takes as long as the program does to read what was written before.
        await this.#call(FrameKind.write, id, { payload, key, isPatient: true });
      }
    });
  }

  /** Ends the input of an own command after what was written. */
  closeInput(id: number): Promise<void> {
    return this.#connections.inOrder(`input ${id}`, async (key) => {
      await this.#call(FrameKind.closeInput, id, { key, isPatient: true });
    });
  }

  async resize(id: number, cols: number, rows: number): Promise<void> {
    await this.#call(FrameKind.resize, id, { payload: encodeSize(cols, rows) });
  }

  /** Signals an own command's process group, or the foreground group of the terminal. @throws TOOL_FAILED  it has ended. */
  async signal(id: number, signalNumber: number): Promise<void> {
    await this.#call(FrameKind.signal, id, { payload: encodeNumbers(signalNumber) });
  }

  /** Throws away a command's output from now on, and the command itself once it has ended. */
  async discard(id: number): Promise<void> {
    await this.#call(FrameKind.discard, id);
  }

  /** Ends a command that nobody waits for any more, as soon as init can. */
  giveUp(id: number): void {
    void this.signal(id, constants.signals.SIGINT)
      .then(() => this.discard(id))
      .catch(() => {}); // It has ended, or the session has.
  }

  /** Hangs up a terminal and forgets it. */
  async closeTerminal(id: number): Promise<void> {
    await this.#call(FrameKind.close, id);
    await this.#connections.close(`input ${id}`);
  }

  /**
   * Ends all connections in good order, for a dump; resolves when init has closed them.
   *
   * **On failure** connections come again when init does.
   *
   * @throws SESSION_UNRESPONSIVE  init does not answer, or did not close them.
   */
  async quiesce(): Promise<void> {
    const detach = () =>
      Promise.all([this.#spare.close(), ...[...this.#readers].map((reader) => reader.detach())]);
    try {
      await this.#connections.quiesce(detach);
    } catch (error) {
      void this.#connectAgain();
      throw error;
    }
  }

  /**
   * Connects again after a dump. Where init lives but does not answer, that goes on unseen: its
   * processes may hold somebody's work.
   *
   * @throws SESSION_ENDED  the first process is gone.
   */
  async resume(): Promise<void> {
    if (!this.#connections.isQuiesced) return;
    const isAnswering = await this.#connections.resume().then(
      () => true,
      () => false,
    );
    if (isAnswering) return this.#attachReaders();
    const connecting = this.#connectAgain();
    if (this.#connections.isInitGone) await connecting;
    if (this.#connections.failure !== undefined) throw this.#connections.failure;
  }

  /** Connects when init answers, and lets the readers go on; the end of init ends the link. */
  async #connectAgain(): Promise<void> {
    await this.#connections.answered().then(
      () => this.#attachReaders(),
      (error: Error) => this.end(error),
    );
  }

  #attachReaders(): void {
    for (const reader of this.#readers) void this.#connections.track(reader.attach());
  }

  /** Ends the link: the session was swapped or is over. All readers and calls reject with `reason`. */
  end(reason: Error): void {
    if (this.#connections.failure !== undefined) return;
    this.#connections.end(reason);
    for (const reader of this.#readers) reader.fail(reason);
    this.#readers.clear();
    void this.#spare.close();
    this.#resolveEnded();
  }

  async #listAll<T extends { id: number }>(
    what: number,
    parse: (text: string) => T[],
  ): Promise<T[]> {
    const all: T[] = [];
    for (;;) {
      const payload = encodeNumbers(what, all.at(-1)?.id ?? 0);
      const frame = await this.#call(FrameKind.list, 0, { payload });
      const page = parse(frame.payload.toString("utf8"));
      if (page.length === 0) return all;
      all.push(...page);
    }
  }

  #call(kind: number, id: number, options?: CallOptions): Promise<Frame> {
    if (kind !== FrameKind.list) this.#actionCount += 1;
    return this.#connections.call(kind, id, options);
  }

  #readerHost(): ReaderHost {
    return {
      openChannel: (onFrame) => this.#spare.take(onFrame),
      readerClosed: (reader) => this.#readers.delete(reader),
      commandRead: (id) => {
        this.discard(id).catch(() => {}); // already gone is as good
        void this.#connections.close(`input ${id}`);
      },
    };
  }

  #startReader<R extends Reader>(reader: R): R {
    const { failure, isQuiesced } = this.#connections;
    if (failure !== undefined) {
      reader.fail(failure);
      return reader;
    }
    this.#readers.add(reader);
    // While quiesced, resume() attaches it.
    if (!isQuiesced) void this.#connections.track(reader.attach());
    return reader;
  }
}

function encodeSize(cols: number, rows: number): Buffer {
  return encodeNumbers((cols & 0xffff) | ((rows & 0xffff) << 16));
}
