import { connect } from "node:net";
import { runProcess } from "../../base/index.ts";

const START_TIMEOUT_MS = 10_000;
/** One that does not answer is as good as none: then everything is copied. */
const ANSWER_TIMEOUT_MS = 2_000;
const ANSWER_BYTES_MAX = 64 * 1024;
const NONE = "-";

/** native/memory-tracker/tracker-main.c of one process tree. */
export interface MemoryTracker {
  programPath: string;
  socketPath: string;
  /** Root of the tree: the tracker ends with it. */
  pid: number;
}

/**
 * Returns the checkpoint since which the writes of a tree are followed; `null` for none. Starts a
 * tracker where there is none.
 *
 * It belongs to no daemon. When it ends, the kernel forgets what it has noted.
 *
 * @throws TOOL_FAILED  it cannot be started.
 */
export async function trackedSince(tracker: MemoryTracker): Promise<string | null> {
  const { programPath, socketPath, pid } = tracker;
  const base = await ask(socketPath, "base").catch(() => undefined);
  if (base !== undefined) return base === NONE ? null : base;
  await runProcess([programPath, "serve", socketPath, String(pid)], {
    timeoutMs: START_TIMEOUT_MS,
  });
  return null;
}

/**
 * Says that the images of a checkpoint are whole: what is not written from its dump on is in them.
 *
 * A tracker that does not hear it takes nothing for clean.
 */
export async function noteWhole(socketPath: string, checkpointId: string): Promise<boolean> {
  const answer = await ask(socketPath, `commit ${checkpointId}`).catch(() => "no");
  return answer === "ok";
}

/** Lists the processes of which the tracker knows what was written since its base. */
export async function findFollowed(socketPath: string): Promise<number[]> {
  const answer = await ask(socketPath, "clean");
  const pids = answer.split("\n").map((line) => Number.parseInt(line, 10));
  return pids.filter((pid) => pid > 0);
}

/** Tells what following writes lacks on this machine; `null` for nothing. @throws TOOL_FAILED */
export async function findMissingTracking(programPath: string): Promise<string | null> {
  const { exitCode, stdout } = await runProcess([programPath, "probe"], { okExitCodes: [0, 1] });
  return exitCode === 0 ? null : stdout.trim();
}

/** Sends one line, and resolves to the answer, which ends with a zero. */
function ask(socketPath: string, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(socketPath);
    const fail = (why: string) => {
      socket.destroy();
      reject(new Error(`the memory tracker ${why}`));
    };
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => fail("does not answer"));
    socket.once("connect", () => socket.write(`${request}\n`));
    socket.once("error", (error) => fail(error.message));
    socket.once("close", () => fail("has ended"));
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
      if (answer.length > ANSWER_BYTES_MAX) fail("says too much");
      if (!answer.endsWith("\0")) return;
      socket.destroy();
      resolve(answer.slice(0, -1));
    });
  });
}
