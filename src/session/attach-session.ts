import type { SessionRow } from "../catalog/index.ts";
import { hasCode } from "../errors/index.ts";
import type { OperationOutput, OperationParsedInput } from "../protocol/index.ts";
import type { TerminalReader } from "../terminal/index.ts";
import { requireLive } from "./describe-session.ts";
import { keepShellAlive } from "./exec-in-session.ts";
import type { LiveInstance, TerminalSize } from "./live-sessions.ts";
import type { EnginePorts } from "./ports.ts";
import { quoteCommand } from "./quote-command.ts";
import type { StreamPeer } from "./stream-peer.ts";

type AttachInput = OperationParsedInput<"attach">;
type AttachOutput = OperationOutput<"attach">;

/**
 * Takes a client's terminal to a plain, empty screen: alternate screen, mouse and paste modes off,
 * soft reset, cursor home, screen cleared. A full reset would also clear what the person had above.
 */
const SCREEN_RESET =
  "\u001b[?1049l\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?2004l\u001b[?1l\u001b>" +
  "\u001b[!p\u001b[H\u001b[2J";
const SWAP_GRACE_MS = 30_000;

/**
 * Connects a client's terminal to a session's until it detaches or the shell ends.
 *
 * A restore or undo of the session meanwhile swaps what is behind the terminal: the attachment
 * moves over to the new incarnation and redraws.
 *
 * @throws SESSION_WRONG_STATE  the session is not running.
 */
export async function attachSession(
  session: SessionRow,
  input: AttachInput,
  peer: StreamPeer,
  ports: EnginePorts,
): Promise<AttachOutput> {
  const attachment = new Attachment(session, input, peer, ports);
  let live: LiveInstance | undefined = requireLive(session, ports);
  await keepShellAlive(live, ports);
  let commandId = await attachment.startCommand(live);
  while (live !== undefined) {
    const outcome = await attachment.follow(live, commandId);
    if (outcome !== "swapped") return outcome;
    commandId = null;
    live = await attachment.nextInstance(live);
  }
  return { reason: attachment.isRemoved() ? "removed" : "ended", exitCode: null };
}

class Attachment {
  readonly #session: SessionRow;
  readonly #input: AttachInput;
  readonly #peer: StreamPeer;
  readonly #ports: EnginePorts;
  readonly #detached = Promise.withResolvers<AttachOutput>();
  #size: TerminalSize;
  #live: LiveInstance | undefined;
  #hasDrawn = false;
  /** Settled while an incarnation is followed; keys typed before it wait for it. */
  #followed = Promise.withResolvers<LiveInstance>();

  constructor(session: SessionRow, input: AttachInput, peer: StreamPeer, ports: EnginePorts) {
    this.#session = session;
    this.#input = input;
    this.#peer = peer;
    this.#ports = ports;
    this.#size = { columns: input.columns, rows: input.rows };
    const detach = () => this.#detached.resolve({ reason: "detached", exitCode: null });
    peer.gone.addEventListener("abort", detach, { once: true });
    peer.listen({
      onControl: (message) => {
        if (message.control === "detach") detach();
        if (message.control === "resize") {
          this.#size = { columns: message.columns, rows: message.rows };
          void this.#applySize();
        }
      },
      onInput: (bytes) => this.#type(bytes),
    });
  }

  async startCommand(live: LiveInstance): Promise<number | null> {
    if (this.#input.command === undefined) return null;
    const { base, shell } = this.#session;
    const { dialect } = this.#ports.sandbox.checkBase(base, shell);
    const line = quoteCommand(this.#input.command, dialect);
    return await live.link.runInShell(live.terminalId, line, { tty: true, shell: dialect });
  }

  /** Shows one incarnation until it ends, is swapped, or the client leaves. */
  async follow(live: LiveInstance, commandId: number | null): Promise<AttachOutput | "swapped"> {
    this.#live = live;
    this.#followed.resolve(live);
    const swapped = this.#ports.live.changed(live.sessionId).then(() => "swapped" as const);
    await this.#applySize();
    const reader = live.link.readTerminal(live.terminalId, 0);
    try {
      return await Promise.race([
        this.#show(live, reader),
        this.#detached.promise,
        swapped,
        ...(commandId === null ? [] : [this.#commandEnd(live, commandId)]),
      ]);
    } finally {
      reader.close();
      this.#live = undefined;
      this.#followed = Promise.withResolvers();
      await this.#leaveSize(live);
    }
  }

  /** Waits for the incarnation after `before`; `undefined` when the session ended for good. */
  async nextInstance(before: LiveInstance): Promise<LiveInstance | undefined> {
    const { live, catalog } = this.#ports;
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
    return this.#ports.catalog.session(this.#session.id) === undefined;
  }

  async #show(live: LiveInstance, reader: TerminalReader): Promise<AttachOutput | "swapped"> {
    try {
      const shownTo = await this.#redraw(live, reader);
      for await (const { offset, bytes } of reader) {
        if (offset + BigInt(bytes.length) <= shownTo) continue;
        const isNew = offset >= shownTo ? bytes : bytes.subarray(Number(shownTo - offset));
        await this.#peer.send("stdout", isNew);
      }
    } catch (error) {
      // Without its PID 1 the session is about to be noted as ended, or as another incarnation.
      if (this.#isCurrent(live) && !hasCode(error, "SESSION_ENDED")) throw error;
      return "swapped";
    }
    const { exitCode } = await reader.result;
    await keepShellAlive(live, this.#ports);
    return { reason: "ended", exitCode };
  }

  /**
   * Draws the terminal as it looks now and returns up to which byte of its output that is.
   *
   * The terminal's ring is played into a screen of the same size, so that the client gets the
   * picture and not the whole history of cursor movements.
   */
  async #redraw(live: LiveInstance, reader: TerminalReader): Promise<bigint> {
    const { terminals } = await live.link.list();
    const terminal = terminals.find(({ id }) => id === live.terminalId);
    if (terminal === undefined) return 0n;
    const screen = this.#ports.createScreen(terminal.cols, terminal.rows);
    let drawnTo = terminal.startOffset;
    const chunks = reader[Symbol.asyncIterator]();
    while (drawnTo < terminal.endOffset) {
      const next = await chunks.next();
      if (next.done === true) break;
      await screen.write(next.value.bytes);
      drawnTo = next.value.offset + BigInt(next.value.bytes.length);
    }
    const picture = screen.serialize();
    screen.dispose();
    await this.#peer.send("stdout", Buffer.from(this.#emptyScreen() + picture));
    return drawnTo;
  }

  /** What is on the client's screen is pushed up into its history first, at the first drawing. */
  #emptyScreen(): string {
    const pushUp = this.#hasDrawn ? "" : "\r\n".repeat(this.#size.rows);
    this.#hasDrawn = true;
    return pushUp + SCREEN_RESET;
  }

  async #commandEnd(live: LiveInstance, commandId: number): Promise<AttachOutput> {
    const reader = live.link.readCommand(commandId);
    for await (const _ of reader) {
      // On the terminal itself a command has no output of its own.
    }
    const { exitCode } = await reader.result;
    await keepShellAlive(live, this.#ports);
    return { reason: "ended", exitCode };
  }

  async #type(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    const live = await this.#followed.promise;
    try {
      await live.link.write(live.terminalId, bytes);
    } catch (error) {
      // Keys that were on their way to an incarnation when it was left stay with it.
      if (!hasCode(error, "SESSION_ENDED")) throw error;
    }
  }

  #isCurrent(live: LiveInstance): boolean {
    return this.#ports.live.get(live.sessionId)?.instanceId === live.instanceId;
  }

  /** Those who stay attached may have had to make do with less than they can show. */
  async #leaveSize(live: LiveInstance): Promise<void> {
    const size = this.#ports.live.commonSize(live.sessionId, this, null);
    if (size === null || !this.#isCurrent(live)) return;
    await live.link.resize(live.terminalId, size.columns, size.rows).catch(ignoreEnd);
  }

  async #applySize(): Promise<void> {
    const live = this.#live;
    if (live === undefined) return;
    const size = this.#ports.live.commonSize(live.sessionId, this, this.#size);
    if (size === null) return;
    await live.link.resize(live.terminalId, size.columns, size.rows).catch(ignoreEnd);
  }
}

/** A terminal that is gone needs no size; whoever reads from it learns of the end. */
function ignoreEnd(error: unknown): void {
  if (!hasCode(error, "SESSION_ENDED")) throw error;
}
