import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isSystemError } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";

const STDIN = 0;
const WHAT = "Standard input has bytes that the command would not read.";
const HINT =
  "`exec -i` gives them to its command, in a shell of its own; </dev/null leaves them out.";

/**
 * Refuses what would be swallowed: bytes in a pipe or a file, for a command that reads none.
 *
 * @throws USAGE_INVALID
 */
export async function requireNoInput(): Promise<void> {
  if (await hasInput(STDIN)) throw new WaypointError("USAGE_INVALID", WHAT, { hint: HINT });
}

/** Says so where bytes have come since. */
export async function tellUnreadInput(tell: (text: string) => void): Promise<void> {
  if (await hasInput(STDIN)) tell(`Standard input had bytes that no command has read. ${HINT}`);
}

/**
 * Tells whether a descriptor has bytes to read now. A terminal and a device have none to be lost.
 * Of a pipe that has some, one is taken.
 */
export async function hasInput(fd: number): Promise<boolean> {
  try {
    const status = fstatSync(fd);
    if (status.isFile()) return positionOf(fd) < status.size;
    if (status.isFIFO()) return pipeHasBytes(fd);
    return status.isSocket() && fd === STDIN && (await socketHasBytes());
  } catch (error) {
    // Closed, or it may not be opened again.
    if (isSystemError(error, "EBADF", "ENXIO", "EACCES", "ENOENT", "EPERM")) return false;
    throw error;
  }
}

function positionOf(fd: number): number {
  const facts = readFileSync(`/proc/self/fdinfo/${fd}`, "utf8");
  return Number(/^pos:\s*(\d+)/m.exec(facts)?.[1] ?? 0);
}

/** Opened once more it does not wait, whatever others do with their description of it. */
function pipeHasBytes(fd: number): boolean {
  const own = openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return readSync(own, Buffer.alloc(1)) > 0;
  } catch (error) {
    if (isSystemError(error, "EAGAIN")) return false;
    throw error;
  } finally {
    closeSync(own);
  }
}

/** What is there already comes within two turns; what comes later is told at the end. */
async function socketHasBytes(): Promise<boolean> {
  let bytes = 0;
  const count = (chunk: Uint8Array) => {
    bytes += chunk.length;
  };
  process.stdin.on("data", count);
  for (let turns = 0; turns < 3; turns += 1) await nextTurn();
  process.stdin.off("data", count);
  process.stdin.pause();
  process.stdin.unref();
  return bytes > 0;
}
