import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { trimHeap } from "../../linux/kernel/index.ts";

/**
 * How Node runs the daemon. Left to itself V8 lets the space of short-lived objects grow to 128 MiB on
 * a large machine and keeps it, and glibc keeps a heap per thread: 265 MiB after 100 checkpoints, of
 * which 18 were in use.
 */
export const NODE_FLAGS: readonly string[] = ["--max-semi-space-size=4"];
export const MALLOC_ENVIRONMENT: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: "2" };

/**
 * Work comes in bursts; between two of them nobody should wait for this. Who does something every few seconds
 * leaves no longer rest than that.
 */
const REST_MS = 1_500;
/** It takes some 20 ms of the daemon's thread. */
const EVERY_MS = 30_000;

/** Gives the daemon's own unused memory back to the machine where no operation begins or ends for a while. */
export class OwnMemory {
  readonly #collect: () => void;
  #timer: NodeJS.Timeout | undefined;
  #collectedAtMs = Number.NEGATIVE_INFINITY;

  constructor(collect: () => void = returnFreeMemory) {
    this.#collect = collect;
    // What the daemon starts is not to be run as the daemon is.
    for (const name of Object.keys(MALLOC_ENVIRONMENT)) delete process.env[name];
  }

  /** Notes that an operation has begun or ended. */
  noteWork(): void {
    clearTimeout(this.#timer);
    const dueMs = this.#collectedAtMs + EVERY_MS - performance.now();
    this.#timer = setTimeout(
      () => {
        this.#collectedAtMs = performance.now();
        this.#collect();
      },
      Math.max(REST_MS, dueMs),
    );
    this.#timer.unref();
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}

function returnFreeMemory(): void {
  collectGarbage();
  trimHeap();
}

/** Node offers its collector only to those who ask V8 for it. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
}
