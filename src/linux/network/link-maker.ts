import { createInterface } from "node:readline";
import { processesFull, type RunningProgram, startProgram } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";

/** Programs at once: much of a step is waiting in the kernel, above all where something is removed. */
const PROGRAMS_MAX = 4;
/** One that has had nothing to do for so long ends. */
const REST_MS = 20_000;
/** What a library of the machine does not give back goes with the program. */
const REQUESTS_MAX = 5_000;
const ANSWER_TIMEOUT_MS = 60_000;

/** One thing that the program does, as native/link-maker/link-maker.c has it. */
export interface LinkStep {
  kind: "namespace" | "release" | "ip" | "nft";
  /** File of the namespace in which it happens; null for the host's own. */
  place: string | null;
  /** What `ip -batch` or `nft -f` would read. */
  text: string;
  /** Goes on where it fails. @defaultValue false */
  mayFail?: boolean;
}

interface Request {
  text: string;
  answered: PromiseWithResolvers<void>;
}

/** One life of the program. */
interface Running {
  program: RunningProgram;
  request: Request | null;
  timer: NodeJS.Timeout | undefined;
  requests: number;
}

/**
 * Makes namespaces, links and rules, by native/link-maker: a program that stays for a while instead of
 * ip, nft, unshare and nsenter, of which each link needs a dozen.
 *
 * Requests run side by side, each in the order of its steps. The programs end when they rest, and with
 * the daemon.
 */
export class LinkMaker {
  readonly #programPath: string;
  readonly #running = new Set<Running>();
  readonly #waiting: Request[] = [];

  constructor(programPath: string) {
    this.#programPath = programPath;
  }

  /**
   * Does the steps, one after the other.
   *
   * **On failure** those before the one that failed are done.
   *
   * @throws TOOL_FAILED     one failed; `detail.stderr` has its line and the reason.
   * @throws PROCESSES_FULL  the kernel starts no further process.
   */
  async run(steps: readonly LinkStep[]): Promise<void> {
    const request = { text: encode(steps), answered: Promise.withResolvers<void>() };
    this.#waiting.push(request);
    this.#serve();
    await request.answered.promise;
  }

  /** How many programs there are, at work or resting. */
  get programCount(): number {
    return this.#running.size;
  }

  /** Ends the programs, and resolves when they are gone; a request after it starts one again. */
  async close(): Promise<void> {
    const programs = [...this.#running];
    for (const running of programs) this.#dismiss(running);
    await Promise.all(programs.map(({ program }) => program.ended));
  }

  #serve(): void {
    while (this.#waiting.length > 0) {
      const free =
        [...this.#running].find(({ request }) => request === null) ??
        (this.#running.size < PROGRAMS_MAX ? this.#start() : undefined);
      if (free === undefined) return;
      this.#send(free, this.#waiting.shift() as Request);
    }
  }

  #send(running: Running, request: Request): void {
    running.request = request;
    running.requests += 1;
    clearTimeout(running.timer);
    running.timer = setTimeout(() => running.program.kill(), ANSWER_TIMEOUT_MS);
    running.program.stdin.write(request.text);
  }

  #start(): Running {
    const program = startProgram([this.#programPath]);
    const running: Running = { program, request: null, timer: undefined, requests: 0 };
    this.#running.add(running);
    program.stdin.on("error", () => {}); // Its end tells more.
    createInterface({ input: program.stdout }).on("line", (line) => this.#answer(running, line));
    void program.ended.then(({ how, failure }) => {
      this.#running.delete(running);
      clearTimeout(running.timer);
      running.request?.answered.reject(processesFull(failure) ?? failed(how));
      this.#serve();
    });
    return running;
  }

  #answer(running: Running, line: string): void {
    const { request } = running;
    running.request = null;
    if (line === "ok") request?.answered.resolve();
    else request?.answered.reject(processesFull(line) ?? failed(line.replace(/^failed /, "")));
    clearTimeout(running.timer);
    if (running.requests >= REQUESTS_MAX) this.#dismiss(running);
    else running.timer = setTimeout(() => this.#dismiss(running), REST_MS).unref();
    this.#serve();
  }

  /** Lets a program end when it has done what it is at; it is given nothing more. */
  #dismiss(running: Running): void {
    this.#running.delete(running);
    running.program.stdin.end();
  }
}

function encode(steps: readonly LinkStep[]): string {
  const parts = steps.map(({ kind, place, text, mayFail = false }) => {
    const need = mayFail ? "may" : "must";
    return `${kind} ${need} ${Buffer.byteLength(text)} ${place ?? "-"}\n${text}`;
  });
  return `${parts.join("")}end\n`;
}

function failed(reason: string): WaypointError {
  const said = reason.slice(0, 2000);
  return new WaypointError("TOOL_FAILED", `The network could not be changed (${firstOf(said)}).`, {
    detail: { stderr: said },
    hint: said.slice(-400),
  });
}

function firstOf(said: string): string {
  return (said.split("\t")[0] ?? "").slice(0, 200);
}
