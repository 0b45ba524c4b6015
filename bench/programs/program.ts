import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { pollUntil } from "../../src/base/index.ts";

const run = promisify(execFile);
const READY_TIMEOUT_MS = 120_000;
const GAPS_PATH = "/tmp/gaps";
/** By then the ticker has seen that it is to tick. */
const TICKS_MS = 20;

/** Where a program runs: a session, or a container. */
export interface Computer {
  /** Runs a line in its shell and returns its exit code. */
  shell: (line: string) => Promise<number>;
  write: (file: string, content: Buffer) => Promise<void>;
}

/** What runs in the computers that are compared. */
export interface Program {
  /** Files to bring, by their path inside. */
  files: Readonly<Record<string, Buffer>>;
  /** A line of shell that starts it and returns at once. */
  start: string;
  /** A line of shell that succeeds once it works. */
  isReady: string;
}

/** A program that somebody works with. */
export interface UsedProgram extends Program {
  /** A line of shell that uses it a little, and succeeds when it has answered. */
  use: string;
}

/** Returns programs as one, which works when all of them work. */
export function together(programs: readonly Program[]): Program {
  return {
    files: Object.assign({}, ...programs.map(({ files }) => files)) as Program["files"],
    start: programs.map(({ start }) => start).join("\n"),
    isReady: programs.map(({ isReady }) => isReady).join(" && "),
  };
}

/** Starts a program and waits until it works. */
export async function startProgram(computer: Computer, program: Program): Promise<void> {
  for (const [file, content] of Object.entries(program.files)) await computer.write(file, content);
  await computer.shell(program.start);
  await pollUntil("the program", { timeoutMs: READY_TIMEOUT_MS, intervalMs: 200 }, async () =>
    (await computer.shell(program.isReady)) === 0 ? true : undefined,
  );
}

/** Compiles a C program of this folder into `directory` and returns its content. */
export async function compile(name: string, directory: string): Promise<Buffer> {
  const target = path.join(directory, name);
  const source = path.join(import.meta.dirname, `${name}.c`);
  await run("gcc", ["-O2", "-static", "-Wall", "-o", target, source]);
  return readFileSync(target);
}

/** The ticker, by whose gaps a pause is seen from inside. */
export function tickerProgram(ticker: Buffer): Program {
  return {
    files: { "/tmp/ticker": ticker },
    start: `chmod 755 /tmp/ticker; : >${GAPS_PATH}; ${inBackground(`/tmp/ticker ${GAPS_PATH}`)}`,
    isReady: `test -e ${GAPS_PATH}`,
  };
}

/** Returns the line that starts a command which reads and says nothing. */
export function inBackground(command: string): string {
  return `setsid ${command} </dev/null >/dev/null 2>&1 &`;
}

/** The longest time, in milliseconds, that the programs of a computer stood still lately. */
export class Gaps {
  readonly #findInit: () => Promise<number>;
  #seen = 0;

  /** @param findInit  returns PID 1 of a computer in which the ticker runs, as the host sees it. */
  constructor(findInit: () => Promise<number>) {
    this.#findInit = findInit;
  }

  /** Forgets what was noted until now, and has the ticker tick. */
  async reset(): Promise<void> {
    writeFileSync(`${await this.#path()}.on`, "");
    await delay(TICKS_MS);
    this.#seen = (await this.#read()).length;
  }

  /** Returns what was noted since, and has the ticker rest. */
  async longest(): Promise<number> {
    const longestMs = Math.max(0, ...(await this.#read()).slice(this.#seen));
    rmSync(`${await this.#path()}.on`, { force: true });
    return longestMs;
  }

  async #read(): Promise<number[]> {
    const text = readFileSync(await this.#path(), "utf8");
    return text.split("\n").filter(Boolean).map(Number);
  }

  /** From outside, through PID 1's root: a command inside would disturb it. */
  async #path(): Promise<string> {
    return `/proc/${await this.#findInit()}/root${GAPS_PATH}`;
  }
}
