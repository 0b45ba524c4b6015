import { StringDecoder } from "node:string_decoder";
import type { ApprovalInfo, OperationOutput } from "../../shared/protocol/index.ts";
import type { OperationStream } from "./operation-stream.ts";

/** Output of each stream that a client keeps unless told otherwise. */
const OUTPUT_KEPT_BYTES_DEFAULT = 16 * 1024 * 1024;

/** What to do with a command's output besides keeping it. */
export interface CollectOptions {
  /** Keeps this much of the beginning of each stream. @defaultValue 16 MiB */
  keepOutputBytes?: number;
  /** Takes standard output as it comes; a promise slows the command down. */
  onStdout?: (bytes: Uint8Array) => unknown;
  /** Takes standard error as it comes; a promise slows the command down. */
  onStderr?: (bytes: Uint8Array) => unknown;
  onNotice?: (notice: string) => void;
  /** Told of the step that waits for approval, and when it waits no longer. */
  onStep?: (approval: ApprovalInfo) => void;
}

/**
 * Waits for a command's end and returns its result together with its output.
 *
 * The output is gathered here and not by the daemon: it arrives anyway, and one result message
 * could not hold it.
 */
export async function collectOutput(
  stream: OperationStream<OperationOutput<"exec">>,
  options: CollectOptions = {},
): Promise<OperationOutput<"exec">> {
  const { keepOutputBytes = OUTPUT_KEPT_BYTES_DEFAULT } = options;
  const stdout = new OutputHead(keepOutputBytes);
  const stderr = new OutputHead(keepOutputBytes);
  for await (const event of stream) {
    if (event.kind === "notice") {
      options.onNotice?.(event.notice);
      if (event.approval !== undefined) options.onStep?.(event.approval);
    } else if (event.kind === "stdout") {
      stdout.add(event.bytes);
      await options.onStdout?.(event.bytes);
    } else {
      stderr.add(event.bytes);
      await options.onStderr?.(event.bytes);
    }
  }
  const result = await stream.result;
  const truncated = stdout.isTruncated || stderr.isTruncated;
  return { ...result, stdout: stdout.text(), stderr: stderr.text(), truncated };
}

/** The beginning of a stream, up to a number of bytes. */
class OutputHead {
  isTruncated = false;
  readonly #pieces: Uint8Array[] = [];
  #roomBytes: number;

  constructor(keepBytes: number) {
    this.#roomBytes = keepBytes;
  }

  add(bytes: Uint8Array): void {
    if (bytes.length > this.#roomBytes) this.isTruncated = true;
    if (this.#roomBytes === 0) return;
    const kept = bytes.subarray(0, this.#roomBytes);
    this.#pieces.push(kept);
    this.#roomBytes -= kept.length;
  }

  text(): string {
    const bytes = Buffer.concat(this.#pieces);
    if (!this.isTruncated) return bytes.toString("utf8");
    // A decoder leaves out the character that the limit cut in two.
    return new StringDecoder("utf8").write(bytes);
  }
}
