import type { OperationOutput } from "../../shared/protocol/index.ts";
import { ProgramAsker } from "./ask-program.ts";
import { collectOutput } from "./collect-output.ts";
import { openExec } from "./held-stream.ts";
import type { OperationStream } from "./operation-stream.ts";
import type { ExecOptions, SpawnOptions } from "./options.ts";
import { requireCommand, requireInput, requireOptions } from "./require-arguments.ts";

type CommandStream = OperationStream<OperationOutput<"exec">>;

/** Runs a command in a session, with its input, and gathers its output. */
export async function runCommand(
  stateDir: string,
  session: string,
  command: string | readonly string[],
  options: ExecOptions,
): Promise<OperationOutput<"exec">> {
  requireOptions(options);
  const { keepOutputBytes, onStdout, onStderr, onNotice, onApproval } = options;
  const stream = await openCommand(stateDir, session, command, options);
  using asker = new ProgramAsker(stateDir, onApproval);
  const collected = collectOutput(stream, {
    onStep: (approval) => asker.take(approval),
    ...(keepOutputBytes === undefined ? {} : { keepOutputBytes }),
    ...(onStdout === undefined ? {} : { onStdout }),
    ...(onStderr === undefined ? {} : { onStderr }),
    ...(onNotice === undefined ? {} : { onNotice }),
  });
  // Both at once: a command may print more than the socket holds before it reads its input.
  const [result] = await Promise.all([collected, sendInput(stream, options.input)]);
  return result;
}

/** Begins a command; its output waits until the stream is read. @throws USAGE_INVALID */
export async function openCommand(
  stateDir: string,
  session: string,
  command: string | readonly string[],
  options: ExecOptions | SpawnOptions,
): Promise<CommandStream> {
  const words = requireCommand(command);
  requireOptions(options);
  requireInput(options.input);
  const { signal, input, keepOutputBytes: _, onNotice: _n, ...more } = options;
  const { onStdout: _o, onStderr: _e, onApproval: _a, ...rest } = more as ExecOptions;
  return await openExec(
    stateDir,
    { ...rest, session, command: words, stdin: input !== undefined },
    signal === undefined ? {} : { signal },
  );
}

/** Sends a command its whole input, as fast as it takes it. */
export async function sendInput(
  stream: CommandStream,
  input: SpawnOptions["input"],
): Promise<void> {
  if (input === undefined) return;
  const pieces = typeof input === "string" || input instanceof Uint8Array ? [input] : input;
  for await (const piece of pieces) {
    await stream.write(typeof piece === "string" ? Buffer.from(piece, "utf8") : piece);
  }
  stream.endInput();
}
