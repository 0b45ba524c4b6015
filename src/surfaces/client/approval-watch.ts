import { hasCode } from "../../shared/errors/index.ts";
import type { ApprovalInfo, OperationOutput } from "../../shared/protocol/index.ts";
import { callOperation } from "./call-operation.ts";
import { type OperationStream, openStream } from "./operation-stream.ts";
import { reconnect } from "./reconnect.ts";

/** Which steps to watch, and how long. */
export interface WatchOptions {
  /** Only those of this session. @defaultValue all */
  session?: string;
  /** Ends the iteration with CANCELLED. */
  signal?: AbortSignal;
}

/**
 * The steps that wait for a person, as they come and go: each when it waits, again when its command goes
 * or comes back (`isWaitedFor`), and once more when it waits no longer (`state`). What waits already
 * comes first. It goes on where the daemon is lost. Iterate once; disposing of it ends the iteration.
 */
export class ApprovalWatch implements AsyncIterable<ApprovalInfo>, AsyncDisposable {
  readonly #stateDir: string;
  readonly #options: WatchOptions;
  #stream: OperationStream<OperationOutput<"approvals.watch">> | null = null;
  #isEnded = false;

  constructor(stateDir: string, options: WatchOptions) {
    this.#stateDir = stateDir;
    this.#options = options;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ApprovalInfo, void> {
    const told = new Map<string, boolean>();
    try {
      this.#stream = await this.#open({});
      while (!this.#isEnded) {
        try {
          // What was answered while nobody watched.
          if (told.size > 0) yield* await this.#settledOf(told);
          for await (const approval of linesOf(this.#stream)) {
            // A new daemon tells all that waits once more.
            const isKnown = told.get(approval.id) === approval.isWaitedFor;
            if (approval.state === "waiting" && isKnown) continue;
            if (approval.state === "waiting") told.set(approval.id, approval.isWaitedFor);
            else told.delete(approval.id);
            yield approval;
          }
        } catch (error) {
          if (this.#isEnded) return;
          if (!hasCode(error, "DAEMON_UNREACHABLE")) throw error;
          const open = (how: { start: boolean }) => this.#open(how);
          this.#stream = await reconnect(this.#stateDir, open, this.#options.signal);
        }
      }
    } finally {
      this.#stream?.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    this.#stream?.close();
  }

  async #settledOf(told: Map<string, boolean>): Promise<ApprovalInfo[]> {
    const { session, signal } = this.#options;
    const input = session === undefined ? {} : { session };
    const control = signal === undefined ? {} : { signal };
    const { approvals } = await callOperation(this.#stateDir, "approvals", input, control);
    return approvals.filter(({ id, state }) => state !== "waiting" && told.delete(id));
  }

  async #open(how: { start?: boolean }) {
    const { session, signal } = this.#options;
    const input = session === undefined ? {} : { session };
    const control = signal === undefined ? how : { ...how, signal };
    return await openStream(this.#stateDir, "approvals.watch", input, control);
  }
}

async function* linesOf(stream: OperationStream<unknown>): AsyncGenerator<ApprovalInfo> {
  let unfinished = Buffer.alloc(0);
  for await (const event of stream) {
    if (event.kind !== "stdout") continue;
    const bytes = Buffer.concat([unfinished, event.bytes]);
    const end = bytes.lastIndexOf(0x0a) + 1;
    unfinished = bytes.subarray(end);
    for (const line of bytes.toString("utf8", 0, end).split("\n")) {
      if (line !== "") yield JSON.parse(line) as ApprovalInfo;
    }
  }
}
