import { spawn } from "node:child_process";
import { once } from "node:events";
import { type RawPath, toBytes } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { toolEnvironment } from "./environment.ts";
import { type GrepLine, MatchLines, NullSeparated } from "./match-lines.ts";

/** Memory that one grep may take; a longer line cannot be searched. */
const MEMORY_BYTES_MAX = 1024 ** 3;
/** A pattern may take so long, and as much longer as reading takes. */
const DEADLINE_MS = 60_000;
const READ_BYTES_PER_MS = 10_000;
const COMPLAINT_BYTES_MAX = 4096;
const SHOWN_CHARS_MAX = 80;

/** What is searched for. */
export interface Pattern {
  pattern: string;
  fixed: boolean;
  ignoreCase: boolean;
}

/** A file to be searched. */
export interface GrepFile {
  hostPath: RawPath;
  sizeBytes: number;
}

/** What is told while grep runs. */
interface GrepRun {
  arguments: readonly string[];
  input: Buffer;
  sizeBytes: number;
  onOutput: (chunk: Uint8Array) => Promise<void>;
}

/**
 * The machine's own grep as a process: it reads files of any size and stops at a signal, and a
 * pattern that takes for ever takes nobody else's time.
 */
class Grep {
  readonly #pattern: Pattern;
  readonly #signal: AbortSignal;

  constructor(pattern: Pattern, signal: AbortSignal) {
    this.#pattern = pattern;
    this.#signal = signal;
  }

  /** Tries the pattern on nothing. @throws USAGE_INVALID  grep does not understand it. */
  async check(): Promise<void> {
    const { exitCode, complaint } = await this.#run({
      ...{ arguments: this.#grep([]), input: Buffer.alloc(0), sizeBytes: 0 },
      onOutput: async () => {},
    });
    if (exitCode === 0 || exitCode === 1) return;
    throw new WaypointError("USAGE_INVALID", invalidExpression(this.#pattern, complaint), {
      hint: "With -F it is plain text.",
    });
  }

  /** Returns which files match, binary ones too, and what grep complained about. */
  async filesWith(files: readonly GrepFile[]): Promise<{ found: Set<RawPath>; complaint: string }> {
    const found = new Set<RawPath>();
    const names = new NullSeparated();
    const complaint = await this.#search(files, ["-l", "-a"], async (chunk) => {
      for (const name of names.push(chunk)) found.add(name);
    });
    return { found, complaint };
  }

  /** Tells the lines that match of files that are text. */
  async linesOf(
    files: readonly GrepFile[],
    onLine: (line: GrepLine) => Promise<void>,
  ): Promise<string> {
    const lines = new MatchLines();
    return await this.#search(files, ["-n", "-H", "-I"], async (chunk) => {
      for (const line of lines.push(chunk)) await onLine(line);
    });
  }

  /** Returns the lines of a text that match. */
  async linesIn(text: string): Promise<GrepLine[]> {
    const found: GrepLine[] = [];
    const lines = new MatchLines();
    const input = Buffer.from(text, "utf8");
    await this.#run({
      ...{ arguments: this.#grep(["-n", "-H", "-a", "-Z"]), input, sizeBytes: input.length },
      onOutput: async (chunk) => void found.push(...lines.push(chunk)),
    });
    return found;
  }

  /** Names go through xargs: as arguments of Node's they could only be text. */
  async #search(
    files: readonly GrepFile[],
    how: readonly string[],
    onOutput: GrepRun["onOutput"],
  ): Promise<string> {
    const input = Buffer.concat(files.flatMap(({ hostPath }) => [toBytes(hostPath), NUL]));
    const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
    const argv = ["xargs", "-0", "-r", ...this.#grep([...how, "-Z"]), "--"];
    const { complaint } = await this.#run({ arguments: argv, input, sizeBytes, onOutput });
    return complaint;
  }

  #grep(how: readonly string[]): string[] {
    const { pattern, fixed, ignoreCase } = this.#pattern;
    const limits = ["prlimit", `--as=${MEMORY_BYTES_MAX}`, "--core=0"];
    const kind = [fixed ? "-F" : "-E", ...(ignoreCase ? ["-i"] : [])];
    return [...limits, "grep", ...kind, ...how, "-e", pattern];
  }

  async #run(run: GrepRun): Promise<{ exitCode: number | null; complaint: string }> {
    this.#throwIfGone();
    const [program = "", ...rest] = run.arguments;
    // A group of its own, so that xargs and its grep end together.
    // What people and programs write is UTF-8.
    const env = toolEnvironment("C.UTF-8");
    const child = spawn(program, rest, { env, detached: true });
    const closed = once(child, "close") as Promise<[number | null]>;
    closed.catch(() => {});
    let isLate = false;
    const end = () => void killGroup(child.pid);
    const timer = setTimeout(
      () => {
        isLate = true;
        end();
      },
      DEADLINE_MS + run.sizeBytes / READ_BYTES_PER_MS,
    );
    this.#signal.addEventListener("abort", end, { once: true });
    try {
      const complaint = collect(child.stderr);
      child.stdin.on("error", () => {});
      child.stdin.end(run.input);
      for await (const chunk of child.stdout) await run.onOutput(chunk as Uint8Array);
      const [exitCode] = await closed;
      if (isLate) throw tooSlow();
      this.#throwIfGone();
      return { exitCode, complaint: await complaint };
    } finally {
      clearTimeout(timer);
      this.#signal.removeEventListener("abort", end);
      if (child.exitCode === null && child.signalCode === null) end();
    }
  }

  #throwIfGone(): void {
    if (this.#signal.aborted) throw new WaypointError("CANCELLED", "The operation was cancelled.");
  }
}

/** Searches for a pattern, in no particular place yet. */
export function search(pattern: Pattern, signal: AbortSignal): Grep {
  return new Grep(pattern, signal);
}

const NUL = Buffer.from([0]);

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

async function collect(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (text.length < COMPLAINT_BYTES_MAX) text += chunk.toString("utf8");
  }
  return text.slice(0, COMPLAINT_BYTES_MAX);
}

/** Says what grep says, as a sentence. */
function invalidExpression({ pattern }: Pattern, complaint: string): string {
  const shown = JSON.stringify(pattern.slice(0, SHOWN_CHARS_MAX));
  // Of some grep only says what is said here already.
  const why = complaint.trim().replace(/^grep: (?:Invalid regular expression$)?/, "");
  const told = why === "" ? "" : `: ${why.charAt(0).toLowerCase()}${why.slice(1)}`;
  return `The expression ${shown} is invalid${told}.`;
}

function tooSlow(): WaypointError {
  return new WaypointError("DEADLINE_EXCEEDED", "The pattern takes too long.", {
    hint: "Leave out back references such as \\1, or narrow the search with --path.",
  });
}
