import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { pollUntil } from "../src/base/index.ts";
import { callOperation } from "../src/client/index.ts";
import { type Session, Waypoint } from "../src/index.ts";

const STORE_BYTES = 16 * 1024 ** 3;
const END_TIMEOUT_MS = 30_000;
const GAPS_PATH = "/tmp/gaps";

/** A shell without the start-up files of this machine's user, which take what they take. */
export const PLAIN_SHELL = { env: { HOME: "/nonexistent" } };

const run = promisify(execFile);

/** A Waypoint of the benchmark's own; disposing of it leaves nothing on the machine. */
export class World implements AsyncDisposable {
  readonly stateDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-bench-"));
  #waypoint: Waypoint | undefined;

  static async open(): Promise<World> {
    process.env["WAYPOINT_STORE_BYTES"] = String(STORE_BYTES);
    const world = new World();
    world.#waypoint = await Waypoint.open({ stateDir: world.stateDir });
    return world;
  }

  get waypoint(): Waypoint {
    if (this.#waypoint === undefined) throw new Error("the world is not open");
    return this.#waypoint;
  }

  /** Ends the daemon; with `sessions` everything else too. */
  async stopDaemon(options: { sessions: boolean }): Promise<void> {
    const { pid } = await callOperation(this.stateDir, "daemon.status", {});
    await callOperation(this.stateDir, "daemon.stop", options);
    await pollUntil("the daemon's end", { timeoutMs: END_TIMEOUT_MS }, () =>
      existsSync(`/proc/${pid}`) ? undefined : true,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopDaemon({ sessions: true });
    rmSync(this.stateDir, { recursive: true });
  }
}

/** Compiles the ticker into a directory and returns its path. */
export async function buildTicker(directory: string): Promise<string> {
  const tickerPath = path.join(directory, "ticker");
  const sourcePath = path.join(import.meta.dirname, "ticker.c");
  await run("gcc", ["-O2", "-static", "-Wall", "-o", tickerPath, sourcePath]);
  return tickerPath;
}

/** Starts the ticker in the shell of a session. */
export async function startTicker(session: Session, tickerPath: string): Promise<void> {
  const input = readFileSync(tickerPath);
  const write = "cat > /tmp/ticker && chmod 755 /tmp/ticker";
  await session.exec(["sh", "-c", write], { shell: "own", input });
  await session.exec(`/tmp/ticker ${GAPS_PATH} &`);
}

/** The longest time, in milliseconds, that the programs of a session stood still lately. */
export class Gaps {
  readonly #initPid: number;
  #seen = 0;

  /** @param initPid  PID 1 of a session in which the ticker runs, as the host sees it. */
  constructor(initPid: number) {
    this.#initPid = initPid;
  }

  /** Forgets what was noted until now. */
  reset(): void {
    this.#seen = this.#read().length;
  }

  longest(): number {
    return Math.max(0, ...this.#read().slice(this.#seen));
  }

  #read(): number[] {
    // Read from outside, through PID 1's root: a command in the session would disturb it.
    const file = `/proc/${this.#initPid}/root${GAPS_PATH}`;
    if (!existsSync(file)) return [];
    return readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number);
  }
}
