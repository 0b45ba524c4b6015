import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { killProcess, pollUntil, runProcess } from "../../base/index.ts";

/** How far a lazy restore has come. */
export interface PagesState {
  /**
   * `whole`: all memory is where it belongs, or nobody needs it any more. `abandoned`: the restore
   * failed, for a reason of its own.
   */
  kind: "filling" | "whole" | "lost" | "abandoned";
  /** Why it is lost, for the log. */
  reason: string;
}

const START_TIMEOUT_MS = 30_000;
const END_TIMEOUT_MS = 10_000;
const STATE_FILE = "pages.state";
const STATUS_SOCKET = "pages.sock";

const BOTH_ENDED: PagesState = {
  kind: "lost",
  reason: "the pages server and its keeper were ended",
};

/**
 * Starts the pages server of one lazy restore; CRIU can connect to it in `workDir`. It brings what is
 * touched, and all else when it is told to (fill-pages.ts).
 *
 * @param sumsPath  sums of the images: a page that has another one is never brought; the memory counts
 * as lost then. `null` where there are none.
 * @param isTouchedOnly  tells whoever asks, until {@link keepPages}, that all else is not to be brought by itself.
 *
 * It belongs to nobody: it lives on when the daemon ends, and ends by itself when all memory is
 * filled or the session has ended. It has the images open from now on, so they may be deleted or moved.
 *
 * @throws TOOL_FAILED  the images of memory cannot be read or are damaged, or the kernel offers no
 * userfaultfd.
 */
export async function startPagesServer(options: {
  pagesServerPath: string;
  imagesDir: string;
  workDir: string;
  sumsPath: string | null;
  isTouchedOnly: boolean;
}): Promise<void> {
  const { pagesServerPath, imagesDir, workDir, sumsPath, isTouchedOnly } = options;
  const words = [imagesDir, workDir, sumsPath ?? "-", ...(isTouchedOnly ? ["touched"] : [])];
  await runProcess([pagesServerPath, ...words], { timeoutMs: START_TIMEOUT_MS });
}

/** Returns how the lazy restore in `workDir` stands; `null` where there was none. */
export function pagesState(workDir: string): PagesState | null {
  const written = readState(workDir);
  if (written === null) return null;
  if (written.kind === "filling" && pagesServerPids(workDir).length === 0) return BOTH_ENDED;
  return { kind: written.kind, reason: written.note };
}

/**
 * Resolves when the pages server in `workDir` has ended, whoever started it, with how it stood then.
 *
 * `lost` when it did not finish: the session's processes have been ended by its keeper, or will
 * find zeros in their memory when the keeper was ended too.
 */
export async function awaitPagesServer(workDir: string): Promise<PagesState> {
  await untilClosed(join(workDir, STATUS_SOCKET));
  const state = pagesState(workDir);
  if (state !== null && state.kind !== "filling") return state;
  return BOTH_ENDED;
}

/** Ends the pages server in `workDir`, if one is there. **Requires** the session has ended. */
export async function endPagesServer(workDir: string): Promise<void> {
  // The keeper first, which would otherwise take the other's end for an accident.
  const pids = pagesServerPids(workDir);
  for (const pid of pids) killProcess(pid);
  await pollUntil("the pages server to end", { timeoutMs: END_TIMEOUT_MS }, () =>
    pids.some((pid) => isServer(pid, workDir)) ? undefined : true,
  );
}

/** Returns its processes that are there: the keeper, then the server. */
function pagesServerPids(workDir: string): number[] {
  const state = readState(workDir);
  if (state?.kind !== "filling") return [];
  return state.note
    .split(" ")
    .map(Number)
    .filter((pid) => isServer(pid, workDir));
}

function readState(workDir: string): { kind: PagesState["kind"]; note: string } | null {
  const text = readOr(join(workDir, STATE_FILE));
  const found = /^(filling|whole|lost|abandoned) (.*)/.exec(text);
  if (found === null) return null;
  return { kind: found[1] as PagesState["kind"], note: found[2] ?? "" };
}

/** Nobody accepts there: the connection breaks when the last process with the socket has ended. */
function untilClosed(socketPath: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    // It is refused, or there is no socket, when the server has ended already.
    socket.on("error", () => {});
    socket.once("close", () => resolve());
    socket.resume();
  });
}

/** A process that has got the number since, or that has ended and is still listed, is not it. */
function isServer(pid: number, workDir: string): boolean {
  return readOr(`/proc/${pid}/cmdline`).split("\0").includes(workDir);
}

function readOr(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
