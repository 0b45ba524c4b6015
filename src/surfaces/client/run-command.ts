import type { OperationOutput } from "../../shared/protocol/index.ts";
import { ProgramAsker } from "./ask-program.ts";
import { collectOutput } from "./collect-output.ts";
import { openExec } from "./held-stream.ts";
import type { OperationStream } from "./operation-stream.ts";
import type { ExecOptions } from "./options.ts";
import { requireCommand, requireInput, requireOptions } from "./require-arguments.ts";

/** Runs a command in a session, with its input, and gathers its output. */
export async function runCommand(
  stateDir: string,
  session: string,
  command: string | readonly string[],
  options: ExecOptions,
): Promise<OperationOutput<"exec">> {
  const words = requireCommand(command);
  requireOptions(options);
  requireInput(options.input);
  const { signal, input, keepOutputBytes, onStdout, onStderr, onNotice, onApproval, ...rest } =
    options;
  const stream = await openExec(
    stateDir,
    { ...rest, session, command: words, stdin: input !== undefined },
    signal === undefined ? {} : { signal },
  );
  using asker = new ProgramAsker(stateDir, onApproval);
  const collected = collectOutput(stream, {
    onStep: (approval) => asker.take(approval),
    ...(keepOutputBytes === undefined ? {} : { keepOutputBytes }),
    ...(onStdout === undefined ? {} : { onStdout }),
    ...(onStderr === undefined ? {} : { onStderr }),
    ...(onNotice === undefined ? {} : { onNotice }),
  });
  if (input === undefined) return await collected;
  // Both at once: a command may print more than the socket holds before it reads its input.
  const [result] = await Promise.all([collected, sendInput(stream, input)]);
  return result;
}

async function sendInput(
  stream: OperationStream<OperationOutput<"exec">>,
  input: string | Uint8Array,
): Promise<void> {
  await stream.write(typeof input === "string" ? Buffer.from(input, "utf8") : input);
  stream.endInput();
}
