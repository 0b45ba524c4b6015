import type {
  RunInShellOptions,
  TerminalReader,
  TerminalState,
} from "../../linux/terminal/index.ts";
import type { SessionRow } from "../../portable/model/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import type { OperationOutput, OperationParsedInput } from "../../shared/protocol/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine, StreamClient } from "../ports/index.ts";
import { requireLive } from "./describe-session.ts";
import { keepShellAlive } from "./keep-shell-alive.ts";
import { quoteCommand } from "./quote-command.ts";
import { sessionShell } from "./shell.ts";
import { TerminalFit } from "./terminal-fit.ts";
import { TypedLines } from "./typed-lines.ts";

type AttachInput = OperationParsedInput<"attach">;
type AttachOutput = OperationOutput<"attach">;

/**
 * Takes a client's terminal to a plain, empty screen: alternate screen, mouse and paste modes off,
 * soft reset, no scroll region, cursor home, screen cleared. A full reset would also clear what the person had above.
 */
const SCREEN_RESET =
  "\u001b[?1049l\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?2004l\u001b[?1l\u001b>" +
  "\u001b[!p\u001b[r\u001b[H\u001b[2J";
const SWAP_GRACE_MS = 30_000;

/**
 * Connects a client's terminal to a session's until it detaches or the shell ends.
 *
 * A restore or undo of the session meanwhile swaps what is behind the terminal: the attachment
 * moves over to the new instance and redraws.
 *
 * @throws SESSION_WRONG_STATE  the session is not running.
 */
export async function attachSession(
  session: SessionRow,
  input: AttachInput,
  client: StreamClient,
  engine: Engine,
): Promise<AttachOutput> {
  const attachment = new Attachment(session, input, client, engine);
  let live: LiveInstance | undefined = requireLive(session, engine);
  await keepShellAlive(live, engine);
  try {
    while (live !== undefined) {
      const outcome = await attachment.follow(live);
      if (outcome === "redraw") continue;
      if (outcome !== "swapped") return outcome;
      live = await attachment.nextInstance(live);
    }
    return { reason: attachment.isRemoved() ? "removed" : "ended", exitCode: null };
  } finally {
    await attachment.leave();
  }
}

/** What a client was shown first of an instance, and what that was made from. */
interface Drawing {
  terminal: TerminalState;
  /** Whether the program owns the whole screen, and draws it again when told to. */
  isFullScreen: boolean;
}

class Attachment {
  readonly #session: SessionRow;
  readonly #input: AttachInput;
  readonly #client: StreamClient;
  readonly #engine: Engine;
  readonly #detached = Promise.withResolvers<AttachOutput>();
  readonly #fit: TerminalFit;
  /** The instance whose picture the client has, and whose terminal takes its size. */
  #live: LiveInstance | undefined;
  #lines: TypedLines | undefined;
  #fitting: Promise<void> = Promise.resolve();
  #hasDrawn = false;
  #command: { live: LiveInstance; end: Promise<AttachOutput> } | undefined;
  #redraw = Promise.withResolvers<"redraw">();
  /** Settled while a fitted instance is followed; keys typed before it wait for it. */
  #typable = Promise.withResolvers<LiveInstance>();
  #isTypable = false;

  constructor(session: SessionRow, input: AttachInput, client: StreamClient, engine: Engine) {
    this.#session = session;
    this.#input = input;
    this.#client = client;
    this.#engine = engine;
    this.#fit = new TerminalFit(session.id, { columns: input.columns, rows: input.rows }, engine);
    const detach = () => this.#detached.resolve({ reason: "detached", exitCode: null });
    client.gone.addEventListener("abort", detach, { once: true });
    client.listen({
      onControl: (message) => {
        if (message.control === "detach") detach();
        if (message.control === "redraw") this.#redraw.resolve("redraw");
        if (message.control === "resize") {
          const { columns, rows } = message;
          void this.#fit.change({ columns, rows }, this.#live);
        }
      },
      onInput: (bytes) => this.#type(bytes),
    });
  }

  /** Shows one instance until it ends, is swapped or to be drawn again, or the client leaves. */
  async follow(live: LiveInstance): Promise<AttachOutput | "swapped" | "redraw"> {
    this.#redraw = Promise.withResolvers();
    const { promise: redraw } = this.#redraw;
    const swapped = this.#engine.live.changed(live.sessionId).then(() => "swapped" as const);
    this.#fit.join();
    using lines = new TypedLines(live, this.#engine);
    this.#lines = lines;
    const reader = live.link.readTerminal(live.terminalId, 0);
    try {
      const shown = this.#show(live, reader);
      return await Promise.race([shown, this.#detached.promise, swapped, redraw]);
    } finally {
      reader.close();
      this.#live = undefined;
      // Keys that still wait were typed to what comes next.
      if (this.#isTypable) this.#typable = Promise.withResolvers();
      this.#isTypable = false;
    }
  }

  async leave(): Promise<void> {
    this.#fit.hurry();
    await this.#fitting;
    await this.#fit.leave();
  }

  /** Waits for the instance after `before`; `undefined` when the session ended for good. */
  async nextInstance(before: LiveInstance): Promise<LiveInstance | undefined> {
    const { live, catalog } = this.#engine;
    const endsAtMs = performance.now() + SWAP_GRACE_MS;
    while (performance.now() < endsAtMs) {
      const next = live.get(before.sessionId);
      if (next !== undefined && next.instanceId !== before.instanceId) return next;
      if (next === undefined && catalog.session(before.sessionId)?.state !== "running") break;
      await live.changed(before.sessionId);
    }
    return undefined;
  }

  isRemoved(): boolean {
    return this.#engine.catalog.session(this.#session.id) === undefined;
  }

  async #show(live: LiveInstance, reader: TerminalReader): Promise<AttachOutput | "swapped"> {
    try {
      const drawing = await this.#draw(live, reader);
      this.#live = live;
      this.#fitting = this.#makeTypable(live, drawing);
      const output = this.#forward(live, reader);
      const command = this.#fitting.then(() => this.#runCommand(live) ?? output);
      return await Promise.race([output, command]);
    } catch (error) {
      // Without its PID 1 the session is about to be noted as ended, or as another instance.
      if (this.#isCurrent(live) && !hasCode(error, "SESSION_ENDED")) throw error;
      return "swapped";
    }
  }

  async #makeTypable(live: LiveInstance, { terminal, isFullScreen }: Drawing): Promise<void> {
    await this.#fit.fit(live, terminal, isFullScreen);
    if (this.#live !== live) return;
    this.#isTypable = true;
    this.#typable.resolve(live);
  }

  async #forward(live: LiveInstance, reader: TerminalReader): Promise<AttachOutput> {
    for await (const { bytes } of reader) {
      this.#fit.printed();
      await this.#client.send("stdout", bytes);
      this.#lines?.printed();
    }
    const { exitCode } = await reader.result;
    await keepShellAlive(live, this.#engine);
    return { reason: "ended", exitCode };
  }

  /**
   * Draws the terminal as it looks now; `reader` goes on with what is printed from then on.
   *
   * The terminal's ring is played into a screen, so that the client gets the picture and not the
   * whole history of cursor movements. The bytes were meant for the size that the terminal has, so
   * it gets this client's size only after that: what the program draws then comes behind the picture.
   */
  async #draw(live: LiveInstance, reader: TerminalReader): Promise<Drawing> {
    const { terminals } = await live.link.list();
    const terminal = terminals.find(({ id }) => id === live.terminalId);
    if (terminal === undefined) throw new WaypointError("SESSION_ENDED", "The terminal is gone.");
    const screen = this.#engine.createScreen(terminal.cols, terminal.rows);
    let newer: Uint8Array = Buffer.alloc(0);
    let drawnTo = terminal.startOffset;
    const chunks = reader[Symbol.asyncIterator]();
    while (drawnTo < terminal.endOffset) {
      const next = await chunks.next();
      if (next.done === true) break;
      const { offset, bytes } = next.value;
      const known = terminal.endOffset > offset ? Number(terminal.endOffset - offset) : 0;
      await screen.write(bytes.subarray(0, known));
      newer = bytes.subarray(known);
      drawnTo = offset + BigInt(bytes.length);
    }
    const hasLostBytes = terminal.startOffset > 0n && terminal.foreground !== terminal.pid;
    const isFullScreen = screen.isAlternate() || hasLostBytes;
    await screen.resize(this.#fit.size.columns, this.#fit.size.rows);
    const picture = Buffer.from(this.#emptyScreen() + screen.serialize());
    screen.dispose();
    await this.#client.send("stdout", Buffer.concat([picture, newer]));
    return { terminal, isFullScreen };
  }

  /** What is on the client's screen is pushed up into its history first, at the first drawing. */
  #emptyScreen(): string {
    const pushUp = this.#hasDrawn ? "" : "\r\n".repeat(this.#fit.size.rows);
    this.#hasDrawn = true;
    return pushUp + SCREEN_RESET;
  }

  /** Runs the client's command, if it has one, once; it is waited for where it was started. */
  #runCommand(live: LiveInstance): Promise<AttachOutput> | undefined {
    const { command } = this.#input;
    if (command !== undefined) this.#command ??= { live, end: this.#commandEnd(live, command) };
    return this.#command?.live === live ? this.#command.end : undefined;
  }

  async #commandEnd(live: LiveInstance, command: readonly string[]): Promise<AttachOutput> {
    const { base, shell } = this.#session;
    const { dialect } = sessionShell({ base, shell }, this.#engine);
    const line = quoteCommand(command, dialect);
    const options = { tty: true, shell: dialect };
    const entry = this.#engine.journal.begin(live, line, { inLiveShell: true });
    try {
      const exitCode = await this.#followCommand(live, line, options);
      entry.end(exitCode);
      return { reason: "ended", exitCode };
    } finally {
      entry.end(null);
    }
  }

  async #followCommand(
    live: LiveInstance,
    line: string,
    options: RunInShellOptions,
  ): Promise<number> {
    const reader = live.link.readCommand(
      await live.link.runInShell(live.terminalId, line, options),
    );
    for await (const _ of reader) {
      // On the terminal itself a command has no output of its own.
    }
    const { exitCode } = await reader.result;
    await keepShellAlive(live, this.#engine);
    return exitCode;
  }

  async #type(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.#engine.typing.note(this.#session.id, bytes);
    const live = await this.#typable.promise;
    this.#lines?.typed(bytes);
    try {
      await live.link.write(live.terminalId, bytes);
    } catch (error) {
      // Keys that were on their way to an instance when it was left stay with it.
      if (!hasCode(error, "SESSION_ENDED")) throw error;
    }
  }

  #isCurrent(live: LiveInstance): boolean {
    return this.#engine.live.get(live.sessionId)?.instanceId === live.instanceId;
  }
}
