import { createInterface } from "node:readline";
import type { Logger, RunningProgram } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Story } from "../../shared/protocol/index.ts";
import type { StoryBuilder } from "../ports/index.ts";
import type { StoryAnswer, StoryRequest } from "./serve-stories.ts";
import { STORY_TIME_MS_MAX, StoryOverBudget } from "./story-budget.ts";

/** Stories come one after the other while somebody works; a new process takes a fifth of a second. */
const IDLE_MS = 20_000;
/** How long what is given up may take to come to its end. */
const GIVE_UP_MS = 2_000;

interface Request {
  resolve: (story: Story) => void;
  reject: (error: unknown) => void;
}

/** One life of the process. */
interface Running {
  program: RunningProgram;
  requests: Map<number, Request>;
  /** Why it was ended by us. */
  endedFor: Error | undefined;
  gone: Promise<void>;
}

/**
 * A process that reads what a session has left and builds stories of it, so that no session can take
 * the time or the memory of the daemon. It is started when it is needed and ended when it rests.
 */
export class StoryProcess implements StoryBuilder {
  readonly #launch: () => RunningProgram;
  readonly #logger: Logger;
  readonly #clearAway: () => void;
  #running: Running | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #lastNumber = 0;

  readonly #timeMsMax: number;

  /**
   * @param options.start  starts the program (src/engine/story-program.ts).
   * @param options.clearAway  removes what an end half-way has left in the store.
   * @param options.timeMsMax  longest time for one story.
   */
  constructor(options: {
    start: () => RunningProgram;
    logger: Logger;
    clearAway: () => void;
    timeMsMax?: number;
  }) {
    this.#timeMsMax = options.timeMsMax ?? STORY_TIME_MS_MAX;
    this.#launch = options.start;
    this.#logger = options.logger;
    this.#clearAway = options.clearAway;
  }

  async build(checkpointId: string, signal: AbortSignal): Promise<Story> {
    if (signal.aborted) throw givenUp();
    clearTimeout(this.#idleTimer);
    const running = this.#running ?? this.#start();
    const number = ++this.#lastNumber;
    const tookTooLong = new StoryOverBudget(`it took longer than ${this.#timeMsMax / 1000} s`);
    const timer = setTimeout(() => this.#end(running, tookTooLong), this.#timeMsMax);
    let giveUpTimer: NodeJS.Timeout | undefined;
    const giveUp = () => {
      send(running, { number, cancel: true });
      giveUpTimer = setTimeout(() => this.#end(running, givenUp()), GIVE_UP_MS);
    };
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      return await new Promise<Story>((resolve, reject) => {
        running.requests.set(number, { resolve, reject });
        send(running, { number, build: checkpointId });
      });
    } finally {
      clearTimeout(timer);
      clearTimeout(giveUpTimer);
      signal.removeEventListener("abort", giveUp);
      running.requests.delete(number);
      this.#rest();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const running = this.#running;
    if (running === undefined) return;
    this.#end(running, givenUp());
    await running.gone;
  }

  #start(): Running {
    const program = this.#launch();
    const gone = Promise.withResolvers<void>();
    const requests = new Map<number, Request>();
    const running: Running = { program, requests, endedFor: undefined, gone: gone.promise };
    program.stdin.on("error", () => {}); // Its end tells more.
    createInterface({ input: program.stdout }).on("line", (line) => this.#take(running, line));
    void program.ended.then(({ how, failure }) => {
      running.endedFor ??= failure;
      if (this.#running === running) this.#running = undefined;
      this.#settle(running, how);
      gone.resolve();
    });
    this.#running = running;
    return running;
  }

  #take({ requests }: Running, line: string): void {
    const answer = JSON.parse(line) as StoryAnswer;
    const request = requests.get(answer.number);
    if ("story" in answer) request?.resolve(answer.story);
    else if ("overBudget" in answer) request?.reject(new StoryOverBudget(answer.overBudget));
    else request?.reject(WaypointError.fromJSON(answer.error));
  }

  #settle({ requests, endedFor }: Running, how: string): void {
    if (requests.size === 0) return;
    this.#logger.warn("the process that builds stories has ended", { how });
    this.#clearAway();
    const memory = new StoryOverBudget(`its process ended (${how}), as it does without memory`);
    for (const { reject } of requests.values()) reject(endedFor ?? memory);
  }

  #end(running: Running, reason: Error): void {
    running.endedFor ??= reason;
    running.program.kill();
  }

  #rest(): void {
    const running = this.#running;
    if (running === undefined || running.requests.size > 0) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.#end(running, givenUp()), IDLE_MS);
    this.#idleTimer.unref();
  }
}

function send({ program }: Running, request: StoryRequest): void {
  program.stdin.write(`${JSON.stringify(request)}\n`);
}

function givenUp(): WaypointError {
  return new WaypointError("CANCELLED", "The story was given up while it was built.");
}
