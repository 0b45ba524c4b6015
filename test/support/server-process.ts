import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const READY_MS_MAX = 60_000;
const LOOK_INTERVAL_MS = 50;
const LOG_CHARS_MAX = 4000;
/** Servers of databases refuse to run as root. */
export const NOBODY = 65534;

/** A server that a test runs and kills. */
export class ServerProcess {
  #child: ChildProcess | null = null;
  #log = "";

  /**
   * Starts it, and returns when `isReady` holds.
   *
   * @param user  whose rights it has. @defaultValue those of nobody
   */
  async start(
    argv: readonly [string, ...string[]],
    env: NodeJS.ProcessEnv,
    isReady: () => Promise<boolean>,
    user = NOBODY,
  ): Promise<void> {
    const [program, ...words] = argv;
    const child = spawn(program, words, {
      env,
      cwd: "/",
      uid: user,
      gid: user,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    const keep = (text: Buffer) => {
      this.#log = (this.#log + String(text)).slice(-LOG_CHARS_MAX);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", keep);
    const endsAtMs = performance.now() + READY_MS_MAX;
    while (!(await isReady())) {
      const isOver = child.exitCode !== null || performance.now() > endsAtMs;
      if (isOver) throw new Error(`${program} does not answer:\n${this.#log}`);
      await delay(LOOK_INTERVAL_MS);
    }
  }

  /** Ends it, and waits until it has gone. */
  async end(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  }
}

/** Makes a directory that belongs to nobody, as short as may be: sockets lie in it. */
export function directoryOfNobody(): string {
  const directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-server-"));
  chmodSync(directory, 0o700);
  chownSync(directory, NOBODY, NOBODY);
  return directory;
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

/** Returns a port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
