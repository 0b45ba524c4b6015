import { isSystemError } from "../base/index.ts";
import { drained } from "../client/index.ts";
import type { Paint } from "./text/style.ts";
import { paintFor } from "./text/style.ts";

/** Exit code when nobody reads the output any more, as a shell reports SIGPIPE. */
export const EXIT_CODE_OUTPUT_CLOSED = 141;

/** Thrown when the reader of the output has gone, for instance `| head`. */
export class OutputClosed extends Error {}

/** Where a command prints. */
export interface Output {
  /** Columns of the terminal; `Infinity` when the output is none and must not be cut. */
  readonly columns: number;
  readonly paint: Paint;
  /** Prints lines for people. */
  lines(lines: readonly string[]): Promise<void>;
  /** Prints the result for programs, as one line. */
  json(value: unknown): Promise<void>;
  /** Passes bytes of a program on; resolves when more can be taken. */
  bytes(stream: "stdout" | "stderr", bytes: Uint8Array): Promise<void>;
  /** Says something meanwhile, on stderr. */
  note(text: string): void;
}

/** Returns the output of this process. */
export function processOutput(): Output {
  const { stdout, stderr } = process;
  const closed = watchClosing(stdout);
  // Losing stderr loses remarks only; the command goes on.
  stderr.on("error", () => {});
  const write = (stream: NodeJS.WriteStream, data: string | Uint8Array) =>
    writeAll(stream, data, closed);
  return {
    columns: stdout.isTTY && stdout.columns > 0 ? stdout.columns : Number.POSITIVE_INFINITY,
    paint: paintFor(stdout, process.env),
    lines: (lines) => write(stdout, lines.map((line) => `${line}\n`).join("")),
    json: (value) => write(stdout, `${JSON.stringify(value)}\n`),
    bytes: (stream, bytes) => write(stream === "stdout" ? stdout : stderr, bytes),
    note: (text) => void stderr.write(`${text}\n`),
  };
}

interface Closing {
  isClosed: boolean;
}

function watchClosing(stdout: NodeJS.WriteStream): Closing {
  const closing: Closing = { isClosed: false };
  stdout.on("error", (error) => {
    if (!isSystemError(error, "EPIPE", "EIO", "ERR_STREAM_DESTROYED")) throw error;
    closing.isClosed = true;
  });
  return closing;
}

async function writeAll(
  stream: NodeJS.WriteStream,
  data: string | Uint8Array,
  closing: Closing,
): Promise<void> {
  if (closing.isClosed && stream === process.stdout) throw new OutputClosed();
  if (stream.write(data)) return;
  await drained(stream);
  if (closing.isClosed && stream === process.stdout) throw new OutputClosed();
}
