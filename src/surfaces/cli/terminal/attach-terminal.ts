import { setTimeout as delay } from "node:timers/promises";
import { hasCode, WaypointError } from "../../../shared/errors/index.ts";
import type { OperationOutput } from "../../../shared/protocol/index.ts";
import { type OperationStream, openStream } from "../../client/index.ts";
import { AttachedPrompt } from "../approving/attached-prompt.ts";
import { HeldHere } from "../approving/held-here.ts";
import type { CommandContext } from "../context.ts";
import { printable } from "../text/printable.ts";
import { DetachKeys, describeDetachKeys, parseDetachKeys } from "./detach-keys.ts";
import { hasTerminal } from "./has-terminal.ts";
import { KeyPump } from "./key-pump.ts";
import { RawTerminal } from "./raw-terminal.ts";
import { showTerminal } from "./show-terminal.ts";

/** How long a lost daemon is looked for before the user gets the terminal back. */
const RECONNECT_TIMEOUT_MS = 30_000;
const RECONNECT_INTERVAL_MS = 250;

/** How long the daemon may take to confirm that the user has left. */
const DETACH_TIMEOUT_MS = 2000;

type AttachStream = OperationStream<OperationOutput<"attach">>;

/** What to attach to, and how. */
export interface AttachTerminalOptions {
  session: string;
  /** As the user writes them: "ctrl-],d". */
  detachKeys: string;
  /** Typed into the shell first; the attachment ends with it. */
  command?: readonly string[];
}

/**
 * Connects this terminal to a session until the user detaches or the session ends.
 *
 * When the daemon dies meanwhile it is started again and the session goes on; the session redraws.
 *
 * **On failure** the terminal is as it was before.
 *
 * @throws USAGE_INVALID       this process has no terminal, or the keys are wrong.
 * @throws DAEMON_UNREACHABLE  the daemon was lost and did not come back in time.
 */
export async function attachTerminal(
  context: CommandContext,
  options: AttachTerminalOptions,
): Promise<OperationOutput<"attach">> {
  refuseWithoutTerminal();
  const keys = parseDetachKeys(options.detachKeys);
  using terminal = new RawTerminal();
  using pump = new KeyPump(new DetachKeys(keys));
  await using visit = new Visit(context, options, { terminal, keys: pump });
  const where = `Attached to ${options.session}; ${describeDetachKeys(options.detachKeys)} detaches.`;
  const greet = once(() => context.output.inCorner(printable(where)));
  let stream = await visit.open(options);
  for (;;) {
    try {
      return await visit.show(stream, greet);
    } catch (error) {
      if (!hasCode(error, "DAEMON_UNREACHABLE")) throw error;
      stream = await visit.reopen(options);
    }
  }
}

/** One stay in a session, over as many connections as it takes. */
class Visit implements AsyncDisposable {
  readonly #context: CommandContext;
  readonly #terminal: RawTerminal;
  readonly #keys: KeyPump;
  /** The command's own step, until it has begun. */
  readonly #own: HeldHere;
  readonly #prompt: AttachedPrompt;
  #stream: AttachStream | undefined;

  constructor(
    context: CommandContext,
    options: AttachTerminalOptions,
    { terminal, keys }: { terminal: RawTerminal; keys: KeyPump },
  ) {
    this.#context = context;
    this.#terminal = terminal;
    this.#keys = keys;
    this.#own = new HeldHere(context, keys);
    this.#prompt = new AttachedPrompt(context.stateDir, options, {
      keys,
      columns: () => terminal.size.columns,
      redraw: () => this.#stream?.control({ control: "redraw" }),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#own[Symbol.dispose]();
    await this.#prompt[Symbol.asyncDispose]();
  }

  open(options: { session: string; command?: readonly string[]; approval?: string }) {
    const { session, command, approval } = options;
    return openStream(this.#context.stateDir, "attach", {
      session,
      ...this.#terminal.size,
      ...(command === undefined ? {} : { command: [...command] }),
      ...(approval === undefined ? {} : { approval }),
    });
  }

  /**
   * Opens again after the daemon was lost. The command was typed already and runs on, or its approval is
   * waited for again; what is typed meanwhile is sent afterwards, except that the chord and Ctrl-C give
   * the terminal back at once.
   */
  async reopen({ session, command }: AttachTerminalOptions): Promise<AttachStream> {
    const held = this.#own.waiting;
    const again = held === null || command === undefined ? {} : { command, approval: held.id };
    const endsAtMs = performance.now() + RECONNECT_TIMEOUT_MS;
    process.stderr.write("\r\n[waypoint] The daemon was lost; connecting again…\r\n");
    for (;;) {
      try {
        return await this.open({ session, ...again });
      } catch (error) {
        const isTemporary = hasCode(error, "DAEMON_UNREACHABLE");
        if (!isTemporary || performance.now() >= endsAtMs) throw error;
      }
      await delay(RECONNECT_INTERVAL_MS);
    }
  }

  /** Shows one connection, until its result. */
  async show(stream: AttachStream, onShown: () => void): Promise<OperationOutput<"attach">> {
    this.#stream = stream;
    // Keys are for what the user sees: none is sent before the session has drawn itself.
    const result = await showTerminal(this.#context, stream, {
      terminal: this.#terminal,
      keys: this.#keys,
      typesBeforeOutput: false,
      detachTimeoutMs: DETACH_TIMEOUT_MS,
      onNotice: (notice) => this.#context.output.inCorner(printable(notice)),
      // Before it is typed nothing of the session is on the screen.
      onStep: (approval, notice) => this.#own.take(approval, notice),
      onOutput: (bytes) => this.#prompt.printed(bytes),
      onShown,
    });
    return result ?? { reason: "detached", exitCode: null };
  }
}

/** Says where the user is after leaving a session. */
export function describeEnd(session: string, reason: OperationOutput<"attach">["reason"]): string {
  switch (reason) {
    case "detached":
      return `Detached; ${session} runs on. Come back with \`waypoint attach ${session}\`.`;
    case "ended":
      return `The terminal of ${session} has ended.`;
    case "removed":
      return `Session ${session} was removed.`;
  }
}

/** Whoever comes back after a restore or a lost daemon knows it already. */
function once(say: () => void): () => void {
  let isSaid = false;
  return () => {
    if (!isSaid) say();
    isSaid = true;
  };
}

function refuseWithoutTerminal(): void {
  if (hasTerminal()) return;
  throw new WaypointError("USAGE_INVALID", "Standard input or output is not a terminal.", {
    hint: "Run a command with `waypoint exec SESSION -- CMD` instead.",
  });
}
