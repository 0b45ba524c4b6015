import type { CommandChunk, InitLink, ProgramResult } from "../../linux/terminal/index.ts";
import type { OperationParsedInput } from "../../shared/protocol/index.ts";

/** What a terminal takes for the end of the input (Ctrl-D). */
const END_OF_INPUT = Uint8Array.of(4);

type ExecInput = OperationParsedInput<"exec">;

/** Output of a running command, and how it ended. */
export interface CommandOutput extends AsyncIterable<CommandChunk> {
  readonly result: Promise<ProgramResult>;
  close(): void;
}

/** Whether a command has a terminal of its own, in place of pipes or the session's terminal. */
export function hasOwnTerminal({ tty, shell }: Pick<ExecInput, "tty" | "shell">): boolean {
  return tty && shell === "own";
}

/** Follows a command from its first byte; on a terminal both of its outputs are one. */
export function readOutput(link: InitLink, id: number, input: ExecInput): CommandOutput {
  if (!hasOwnTerminal(input)) return link.readCommand(id);
  const reader = link.readTerminal(id);
  return {
    result: reader.result,
    close: () => reader.close(),
    async *[Symbol.asyncIterator]() {
      for await (const { bytes } of reader) yield { stream: "stdout", bytes };
    },
  };
}

/** Ends the input of a command after what was written. */
export async function endInput(link: InitLink, id: number, input: ExecInput): Promise<void> {
  if (hasOwnTerminal(input)) await link.write(id, END_OF_INPUT);
  else await link.closeInput(id);
}

/** Hangs up a terminal that a command had for itself; one that has gone with its session is gone. */
export async function closeOwnTerminal(link: InitLink, id: number): Promise<void> {
  await link.closeTerminal(id).catch(() => {});
}
