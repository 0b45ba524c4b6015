import { type Stood, TailOutput } from "../../base/index.ts";
import type { CheckpointRow } from "../../portable/model/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import type { AskedBy, FullVerification } from "../../shared/protocol/index.ts";
import { requireNotHeld } from "../approval/index.ts";
import { openThrowawayFork, type ThrowawayFork } from "../checkpoint/index.ts";
import type { LiveInstance, RunHandle } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { enlistInstance, quoteCommand, sessionShell } from "../session/index.ts";
import { startBeside, startInFork } from "./start-in-fork.ts";
import { type Ran, settleStood, startDeadline } from "./stood.ts";

/** The end of a command's output that is kept. */
const OUTPUT_BYTES_MAX = 64 * 1024;
/** As timeout(1) has it. */
const EXIT_CODE_TIMED_OUT = 124;
/** Of a command that went with all of its fork, as after a SIGKILL. */
const EXIT_CODE_KILLED = 137;

/** What to run against a checkpoint. */
export interface VerifyRequest {
  /** One word: a line of shell; several: a program and its arguments. */
  command: readonly string[];
  timeoutMs: number;
  /** Who asks. */
  by: AskedBy;
  /** Gives up: the fork goes with everything in it. */
  signal: AbortSignal;
  /** Nobody waits for it: the fork stands while something is done that somebody waits for. */
  isBackground?: boolean;
}

/** The memory of a fork that was filled while it ran did not come. */
class MemoryLost extends Error {}

/**
 * Runs a command in a throw-away fork of exactly one checkpoint, and records nothing.
 *
 * It runs in the live shell of that moment where that waits for a line, else beside it with its
 * directory and exported variables. A command that takes too long is a result, and so is one that
 * ends its whole fork. Whatever happens, nothing of the fork is left.
 *
 * @throws CANCELLED | CHECKPOINT_NOT_FOUND | MEMORY_SHORT | APPROVAL_REFUSED, and what {@link openThrowawayFork} throws
 */
export async function runInFork(
  checkpoint: CheckpointRow,
  request: VerifyRequest,
  engine: Engine,
): Promise<FullVerification> {
  requireNotHeld(checkpoint, quoteCommand(request.command, "bash"), engine);
  return await engine.verifications.run(checkpoint, request.signal, async (handle) => {
    // A removal takes the row first and then whatever runs; what begins after that must not.
    requireThere(checkpoint.id, engine);
    const run = (isBackground: boolean) =>
      runWithMemory(checkpoint, { ...request, handle, isBackground }, engine);
    return request.isBackground === true ? await settleStood(run) : (await run(false)).verification;
  });
}

/** Runs it once more, with all memory from the start, where that was lost. */
async function runWithMemory(
  checkpoint: CheckpointRow,
  run: VerifyRequest & { handle: RunHandle },
  engine: Engine,
): Promise<Ran> {
  try {
    return await runOnce(checkpoint, { ...run, eagerMemory: false }, engine);
  } catch (error) {
    if (!(error instanceof MemoryLost)) throw error;
    engine.logger.warn("a verification begins again: memory lost", { checkpoint: checkpoint.id });
    return await runOnce(checkpoint, { ...run, eagerMemory: true }, engine);
  }
}

/** @throws CHECKPOINT_NOT_FOUND */
export function requireThere(checkpointId: string, { catalog }: Engine): void {
  if (catalog.checkpoint(checkpointId) !== undefined) return;
  throw new WaypointError(
    "CHECKPOINT_NOT_FOUND",
    `Checkpoint ${checkpointId} was removed while it was being verified.`,
  );
}

async function runOnce(
  checkpoint: CheckpointRow,
  request: VerifyRequest & { handle: RunHandle; eagerMemory: boolean },
  engine: Engine,
): Promise<Ran> {
  const { handle, eagerMemory, timeoutMs, command, isBackground = false } = request;
  await using fork = await openThrowawayFork(checkpoint, { eagerMemory }, engine);
  handle.leaves(fork.cleared);
  handle.signal.throwIfAborted();
  handle.isThere(fork.isLazy);
  const at = new Date().toISOString();
  const startedAtMs = performance.now();
  const output = new TailOutput(OUTPUT_BYTES_MAX);
  const run = { command, timeoutMs, output, handle, checkpoint, isBackground, stoodMs: () => 0 };
  const end = await awaitEnd(fork, run, engine);
  const stoodMs = run.stoodMs();
  const { dialect } = sessionShell(fork.session, engine);
  const verification = {
    command: quoteCommand(command, dialect),
    ...end,
    durationMs: Math.round(performance.now() - startedAtMs - stoodMs),
    at,
    by: request.by,
    // SQLite takes a NUL for the end of a text.
    output: output.text().replaceAll("\0", "\uFFFD"),
    outputBytes: output.bytes,
  };
  return { verification, stoodMs };
}

interface End {
  exitCode: number;
  timedOut: boolean;
}

/** What is run in a fork, and where its output goes. */
interface ForkRun {
  command: VerifyRequest["command"];
  checkpoint: CheckpointRow;
  output: TailOutput;
  isBackground: boolean;
  /** How long its fork has stood, in milliseconds. */
  stoodMs: () => number;
}

/** Resolves when the command has ended, its time is over, or its fork has. */
async function awaitEnd(
  fork: ThrowawayFork,
  run: ForkRun & Pick<VerifyRequest, "timeoutMs"> & { handle: RunHandle },
  engine: Engine,
): Promise<End> {
  const { signal } = run.handle;
  const over = Promise.withResolvers<End>();
  const onOver = () => over.resolve({ exitCode: EXIT_CODE_TIMED_OUT, timedOut: true });
  // What it stands is known only when it runs.
  const deadline = { timeoutMs: run.timeoutMs, stoodMs: () => run.stoodMs() };
  using _ = startDeadline(deadline, onOver);
  const onAbort = () => over.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([over.promise, runCommand(fork, run, engine)]);
  } catch (error) {
    if (!hasCode(error, "SESSION_ENDED")) throw error;
    if (await fork.hasLostMemory()) throw new MemoryLost();
    return { exitCode: EXIT_CODE_KILLED, timedOut: false };
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function runCommand(fork: ThrowawayFork, run: ForkRun, engine: Engine): Promise<End> {
  const { checkpoint, command } = run;
  const started = await startInFork(fork, checkpoint, command, engine);
  const first = await follow(fork, started, run, engine);
  // A shell that seemed to wait for a line did not take it: it is busy with something of its own.
  const last =
    first.reason === "refused" || first.reason === "shell-lost"
      ? await follow(fork, await startBeside(fork, checkpoint, command, engine), run, engine)
      : first;
  return { exitCode: last.exitCode, timedOut: false };
}

/** Reads to the end. Nothing is asked of the fork meanwhile that has to be answered in time: it may stand. */
async function follow({ live }: ThrowawayFork, commandId: number, run: ForkRun, engine: Engine) {
  using standing = run.isBackground ? standAside(live, engine) : null;
  if (standing !== null) run.stoodMs = standing.stoodMs;
  const reader = live.link.readCommand(commandId);
  for await (const { bytes } of reader) run.output.add(bytes);
  return await reader.result;
}

/** Has a fork stand while something is done that somebody waits for, where the machine can freeze it. */
function standAside(live: LiveInstance, engine: Engine): Stood | null {
  const { freezer, turns, logger } = engine;
  const { instanceId } = live;
  try {
    if (freezer === null || !enlistInstance(live, engine)) return null;
  } catch (error) {
    logger.error("a fork cannot be frozen", error, { instanceId });
    return null;
  }
  return turns.underWay({
    stop: () => freezer.stand(instanceId),
    letOn: () => freezer.thaw(instanceId),
  });
}
