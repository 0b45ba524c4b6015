import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Waypoint } from "../../src/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";

/** Sparse size of a test's store; nothing is taken from the disk until it is written. */
const STORE_BYTES = 8 * 1024 ** 3;

/** A Waypoint of a test's own: its state directory, its daemon, its sessions. */
export interface TestWaypoint extends AsyncDisposable {
  waypoint: Waypoint;
  stateDir: string;
  /** Returns the process id of its daemon. */
  daemonPid(): Promise<number>;
}

/**
 * Opens a Waypoint on a fresh state directory; disposing of it leaves nothing on the machine.
 *
 * @throws when this machine lacks what is needed: tests are never skipped for that.
 */
export async function openTestWaypoint(
  options: {
    storeBytes?: number;
    imagesBytes?: number;
    standby?: TestStandby;
    /** @defaultValue a fresh one */
    stateDir?: string;
  } = {},
): Promise<TestWaypoint> {
  const stateDir = options.stateDir ?? mkdtempSync(path.join(os.tmpdir(), "waypoint-test-"));
  process.env["WAYPOINT_STORE_BYTES"] = String(options.storeBytes ?? STORE_BYTES);
  if (options.imagesBytes === undefined) delete process.env["WAYPOINT_IMAGES_BYTES"];
  else process.env["WAYPOINT_IMAGES_BYTES"] = String(options.imagesBytes);
  setStandby(options.standby ?? {});
  const waypoint = await Waypoint.open({ stateDir }).catch((error: unknown) => {
    rmSync(stateDir, { recursive: true, force: true });
    throw error;
  });
  return {
    waypoint,
    stateDir,
    daemonPid: async () => (await callOperation(stateDir, "daemon.status", {})).pid,
    [Symbol.asyncDispose]: () => close(stateDir),
  };
}

/** What a test's daemons keep on standby. */
export interface TestStandby {
  /** @defaultValue off, so that a test sees only what it makes itself */
  policy?: string;
  budgetBytes?: number;
  reserveBytes?: number;
}

/** Says what the next daemon that this process starts keeps on standby. */
export function setStandby({ policy = "off", budgetBytes, reserveBytes }: TestStandby): void {
  const values = {
    WAYPOINT_STANDBY: policy,
    WAYPOINT_STANDBY_BYTES: budgetBytes,
    WAYPOINT_STANDBY_RESERVE_BYTES: reserveBytes,
  };
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = String(value);
  }
}

async function close(stateDir: string): Promise<void> {
  const { pid } = await callOperation(stateDir, "daemon.status", {});
  await callOperation(stateDir, "daemon.stop", { sessions: true });
  for (let tries = 0; existsSync(`/proc/${pid}`) && tries < 3_000; tries += 1) await delay(10);
  const left = mountsBelow(stateDir);
  if (left.length > 0) throw new Error(`mounts left behind: ${left.join(", ")}`);
  rmSync(stateDir, { recursive: true });
}

function mountsBelow(directory: string): string[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .filter((mountPoint) => mountPoint.startsWith(directory));
}

/** Awaits `read` until it satisfies `accept`, and returns it; fails with what it was last. */
export async function eventually<T>(
  what: string,
  read: () => T | Promise<T>,
  accept: (value: T) => boolean,
  timeoutMs = 60_000,
): Promise<T> {
  const endsAtMs = performance.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (accept(value)) return value;
    if (performance.now() > endsAtMs) {
      throw new Error(`${what} did not happen; last: ${JSON.stringify(value)?.slice(0, 2000)}`);
    }
    await delay(20);
  }
}
