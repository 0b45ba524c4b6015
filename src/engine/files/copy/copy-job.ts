import { type RawPath, toText } from "../../../base/index.ts";
import { WaypointError } from "../../../shared/errors/index.ts";
import type { OperationOutput } from "../../../shared/protocol/index.ts";
import type { FileCalls } from "../../ports/index.ts";

/** Things left out that a result names one by one; further ones are counted. */
const LEFT_OUT_MAX = 100;

/** Who owns a file. */
export interface Owner {
  uid: number;
  gid: number;
}

/** A file that was copied and has further names. */
export interface CopiedFile {
  /** Its path below the directory that all is copied to. */
  relativePath: RawPath;
  inode: bigint;
}

/** How to copy. */
export interface CopyRules {
  /** Owner of all copies; `null` to keep each one's. */
  owner: Owner | null;
  /** Leaves out what would give rights on the machine to whoever runs a file. */
  dropsPrivileges: boolean;
}

/** What one copying operation has done so far. */
export class CopyJob {
  /** Those for what is being copied now. */
  rules: CopyRules;
  /** The directory that all is copied to. */
  readonly rootFd: number;
  readonly calls: FileCalls;
  readonly copiedFiles = new Map<string, CopiedFile>();
  readonly #signal: AbortSignal;
  readonly #id: string;
  readonly #whenCancelled: string;
  readonly #result: OperationOutput<"cp"> = {
    ...{ files: 0, directories: 0, others: 0, bytes: 0 },
    ...{ leftOut: [], leftOutCount: 0 },
  };
  #temporaries = 0;

  /** `whenCancelled` tells, as the end of a sentence, what becomes of what was done before. */
  constructor(
    rootFd: number,
    rules: CopyRules,
    {
      id,
      signal,
      calls,
      whenCancelled = "what it had begun was undone",
    }: { id: string; signal: AbortSignal; calls: FileCalls; whenCancelled?: string },
  ) {
    this.rootFd = rootFd;
    this.rules = rules;
    this.calls = calls;
    this.#id = id;
    this.#signal = signal;
    this.#whenCancelled = whenCancelled;
  }

  get result(): OperationOutput<"cp"> {
    return this.#result;
  }

  /** Returns a name under which something is made before it takes its own. */
  temporaryName(): RawPath {
    this.#temporaries += 1;
    return `.waypoint-cp-${this.#id}-${this.#temporaries}`;
  }

  count(kind: "files" | "directories" | "others"): void {
    this.#result[kind] += 1;
  }

  countBytes(bytes: number): void {
    this.#result.bytes += bytes;
  }

  leaveOut(rawPath: RawPath, reason: string): void {
    this.#result.leftOutCount += 1;
    if (this.#result.leftOut.length >= LEFT_OUT_MAX) return;
    this.#result.leftOut.push({ path: toText(rawPath), reason });
  }

  /** @throws CANCELLED  the client has gone. */
  throwIfGone(): void {
    if (!this.#signal.aborted) return;
    throw new WaypointError("CANCELLED", `The operation was cancelled; ${this.#whenCancelled}.`);
  }
}
