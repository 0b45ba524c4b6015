import type {
  OperationInput,
  OperationName,
  OperationOutput,
  Progress,
} from "../../shared/protocol/index.ts";
import type { CallOptions } from "../client/index.ts";
import { callOperation, type OperationStream, openStream } from "../client/index.ts";
import { endedBySignals } from "./leaving.ts";
import type { Output, PagedOptions } from "./output.ts";
import { ProgressLine } from "./progress-line.ts";
import { printable } from "./text/printable.ts";

/** What every command gets besides its own arguments. */
export interface CommandContext {
  stateDir: string;
  /** Print for programs: one line of JSON. */
  isJson: boolean;
  output: Output;
  nowMs: number;
}

/** A command as it was typed. `Options` are its own; the global ones are in the context. */
export interface Invocation<
  Options = Record<string, never>,
  N extends OperationName | undefined = undefined,
> {
  context: CommandContext;
  /** Positional arguments; the last one takes all that are left if it ends in `...`. */
  args: readonly (string | undefined)[];
  /** Arguments of a `...` argument. */
  rest: readonly string[];
  /** Those of them, and of no other argument, that came after `--`. */
  afterDashes: readonly string[];
  options: Options;
  /**
   * What was typed for the fields of its operation. Those that nobody types, which
   * table/from-contract.test.ts lists, are the command's to add.
   */
  input: N extends OperationName ? OperationInput<N> : object;
}

/** What the file of a command exports. It returns the exit code; nothing means success. */
export interface CommandModule {
  // biome-ignore lint/suspicious/noExplicitAny: each command names its own options.
  run: (invocation: Invocation<any, any>) => Promise<number | undefined>;
}

/** Calls an operation; its notices, and on a terminal how far it has come, are told on stderr. */
export async function call<N extends OperationName>(
  context: CommandContext,
  operation: N,
  input: OperationInput<N>,
  options: CallOptions = {},
): Promise<OperationOutput<N>> {
  using line = underWay(context, operation);
  return await endedBySignals(operation, tellOf(context), (ends) =>
    callOperation(context.stateDir, operation, input, {
      onNotice: (notice) => note(context, notice),
      onProgress: (progress) => line.update(progress),
      ...ends,
      ...options,
    }),
  );
}

/** Makes an operation that streams, and takes what it sends; as {@link call}, a signal ends it. */
export async function callStream<N extends OperationName, T>(
  context: CommandContext,
  operation: N,
  input: OperationInput<N>,
  take: (stream: OperationStream<OperationOutput<N>>) => Promise<T>,
): Promise<T> {
  using line = underWay(context, operation);
  const onProgress = (progress: Progress) => line.update(progress);
  return await endedBySignals(operation, tellOf(context), async (ends) =>
    take(await openStream(context.stateDir, operation, input, { ...ends, onProgress })),
  );
}

/** Says on a terminal what is under way until that is disposed of, unless a program reads. */
export function underWay(context: CommandContext, operation: OperationName): ProgressLine {
  const terminal = context.isJson ? null : context.output.progress;
  return new ProgressLine(operation.replace(".", " "), terminal);
}

/** Says things on stderr, unless a program reads. */
function tellOf(context: CommandContext): (text: string) => void {
  return (text) => note(context, text);
}

/** Says something on stderr, unless a program reads. */
export function note(context: CommandContext, text: string): void {
  if (!context.isJson) context.output.note(printable(text));
}

/** Prints a result: as JSON for programs, else as the lines that `render` makes. */
export async function printResult<T>(
  context: CommandContext,
  result: T,
  render: (result: T) => readonly string[],
): Promise<void> {
  if (context.isJson) await context.output.json(result);
  else await context.output.lines(render(result));
}

/** As {@link printResult}, in a pager where it is more than the terminal shows. */
export async function printLong<T>(
  context: CommandContext,
  result: T,
  render: (result: T) => readonly string[],
  options?: PagedOptions,
): Promise<void> {
  if (context.isJson) await context.output.json(result);
  else await context.output.paged(render(result), options);
}
