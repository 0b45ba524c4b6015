import { WaypointError } from "../../shared/errors/index.ts";
import type { ApprovalInfo, OperationInput, OperationOutput } from "../../shared/protocol/index.ts";
import { type OperationStream, openExec, ProgramAsker } from "../client/index.ts";
import { askHere } from "./approving/ask-here.ts";
import { type CommandContext, note } from "./context.ts";
import { EXIT_CODE_OUTPUT_CLOSED } from "./exit-codes.ts";
import { OutputClosed } from "./output.ts";
import { requireNoInput, tellUnreadInput } from "./unread-input.ts";

const SIGNAL_HANGUP = 1;
const SIGNAL_INT = 2;
const SIGNAL_PIPE = 13;
const SIGNAL_TERM = 15;

/** How long a command may take to end that was told to, by a signal that also ends its client. */
const TERMINATED_TIMEOUT_MS = 5_000;

/** How long a command may take to end that nobody reads any more. */
const PIPE_END_TIMEOUT_MS = 2000;

type ExecStream = OperationStream<OperationOutput<"exec">>;

/** A command to run, and what to do with what it prints. */
export interface StreamCommandOptions {
  input: OperationInput<"exec">;
  /** Takes over from plain streaming to this process's own output. */
  consume?: (stream: ExecStream) => Promise<OperationOutput<"exec">>;
}

/**
 * Runs a command, passes its output on and returns its exit code.
 *
 * Output is passed on as fast as it is taken and never gathered. Ctrl-C is sent to the command; a
 * second Ctrl-C leaves it alone. SIGTERM and SIGHUP are sent to it as well, and it is left alone when
 * it goes on.
 *
 * @throws CANCELLED  the user left. | USAGE_INVALID  it would not read what standard input has.
 */
export async function streamCommand(
  context: CommandContext,
  { input, consume }: StreamCommandOptions,
): Promise<number> {
  const isRead = input.stdin === true;
  if (!isRead) await requireNoInput();
  const leaving = new AbortController();
  let running: ExecStream | undefined;
  using _signals = passSignals(() => running, leaving);
  const stream = await openExec(context.stateDir, input, { signal: leaving.signal });
  running = stream;
  if (isRead) startInput(stream);
  // What is the command's input answers no question.
  using asker = new ProgramAsker(context.stateDir, isRead ? undefined : askHere(context));
  const passOn = consume ?? ((begun: ExecStream) => passOutput(context, begun, asker));
  const { exitCode, timedOut, shellEnded } = await passOn(stream);
  if (!isRead) await tellUnreadInput((text) => note(context, text));
  if (timedOut) note(context, "waypoint: the command was interrupted, its time was over.");
  if (shellEnded) note(context, "The session's shell ended; a fresh one was started.");
  return exitCode;
}

async function passOutput(
  context: CommandContext,
  stream: ExecStream,
  asker: ProgramAsker,
): Promise<OperationOutput<"exec">> {
  let closed: OutputClosed | undefined;
  for await (const event of stream) {
    // Nobody reads any more: what the command prints until it ends has no place to go.
    if (closed !== undefined) continue;
    if (event.kind === "notice") tellNotice(context, event, asker);
    else closed = await passBytes(context, stream, event);
  }
  if (closed !== undefined) throw closed;
  return await stream.result;
}

/** A question that is over goes from the screen before anything is said. */
function tellNotice(
  context: CommandContext,
  { notice, approval }: { notice: string; approval?: ApprovalInfo },
  asker: ProgramAsker,
): void {
  if (approval !== undefined && approval.state !== "waiting") asker.take(approval);
  note(context, notice);
  if (approval?.state === "waiting") asker.take(approval);
}

/** Passes bytes on; when the reader has gone, ends the command as a pipe of the shell would. */
async function passBytes(
  context: CommandContext,
  stream: ExecStream,
  { kind, bytes }: { kind: "stdout" | "stderr"; bytes: Uint8Array },
): Promise<OutputClosed | undefined> {
  try {
    await context.output.bytes(kind, bytes);
    return undefined;
  } catch (error) {
    if (!(error instanceof OutputClosed)) throw error;
    stream.control({ control: "signal", signal: SIGNAL_PIPE });
    setTimeout(() => process.exit(EXIT_CODE_OUTPUT_CLOSED), PIPE_END_TIMEOUT_MS).unref();
    return error;
  }
}

/** Ctrl-C is the command's matter, which may go on; the other signals end this client in any case. */
function passSignals(running: () => ExecStream | undefined, leaving: AbortController): Disposable {
  let interruptions = 0;
  let timer: NodeJS.Timeout | undefined;
  const leave = () => leaving.abort(new WaypointError("CANCELLED", "The command was left alone."));
  const pass = (signal: number) => () => {
    interruptions += 1;
    const stream = running();
    if (interruptions > 1 || stream === undefined) return leave();
    stream.control({ control: "signal", signal });
    if (signal !== SIGNAL_INT) timer = setTimeout(leave, TERMINATED_TIMEOUT_MS);
  };
  const handlers = {
    SIGHUP: pass(SIGNAL_HANGUP),
    SIGINT: pass(SIGNAL_INT),
    SIGTERM: pass(SIGNAL_TERM),
  };
  for (const [name, handler] of Object.entries(handlers)) process.on(name, handler);
  return {
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      for (const [name, handler] of Object.entries(handlers)) process.off(name, handler);
    },
  };
}

/** Passes standard input on beside the output; the command may end before it is used up. */
function startInput(stream: ExecStream): void {
  const passOn = async () => {
    for await (const chunk of process.stdin) await stream.write(chunk as Uint8Array);
    stream.endInput();
  };
  passOn().catch((error: unknown) => {
    // Input that cannot be read is no input; the command must not wait for more of it.
    process.stderr.write(`waypoint: standard input failed: ${String(error)}\n`);
    stream.endInput();
  });
}
