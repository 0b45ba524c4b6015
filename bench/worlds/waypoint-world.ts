import { existsSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pollUntil } from "../../src/base/index.ts";
import { type Session, Waypoint } from "../../src/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import type { Computer } from "../programs/program.ts";

const STORE_BYTES = 32 * 1024 ** 3;
const TRACKING = "WAYPOINT_TRACK_MEMORY";
const END_TIMEOUT_MS = 60_000;

/** A shell without the start-up files of this machine's user, which take what they take. */
export const PLAIN_SHELL = { env: { HOME: "/nonexistent" } };

/** A Waypoint of the benchmark's own; disposing of it leaves nothing on the machine. */
export class WaypointWorld implements AsyncDisposable {
  readonly stateDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-bench-"));
  #waypoint: Waypoint | undefined;

  /** @param options.tracksMemory  the writes of its sessions are followed. @defaultValue true */
  static async open({ tracksMemory = true } = {}): Promise<WaypointWorld> {
    process.env["WAYPOINT_STORE_BYTES"] = String(STORE_BYTES);
    // Only what is measured for it has standbys: making them would disturb the others.
    process.env["WAYPOINT_STANDBY"] = "off";
    const world = new WaypointWorld();
    if (!tracksMemory) process.env[TRACKING] = "off";
    try {
      world.#waypoint = await Waypoint.open({ stateDir: world.stateDir });
    } finally {
      if (!tracksMemory) delete process.env[TRACKING];
    }
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

/** Returns a session as a place where programs can be started. */
export function sessionComputer(session: Session): Computer {
  return {
    shell: async (line) => (await session.exec(line)).exitCode,
    write: async (file, content) => {
      await session.exec(["sh", "-c", `cat >'${file}'`], { shell: "own", input: content });
    },
  };
}

/** Returns PID 1 of a session, as the host sees it. */
export async function initOf(session: Session): Promise<number> {
  const { pid } = await session.info();
  if (pid === null) throw new Error(`session ${session.name} does not run`);
  return pid;
}
