import type { EndReason, InitLink } from "../../linux/terminal/index.ts";
import type { SessionRow } from "../../portable/model/index.ts";
import { hasCode } from "../../shared/errors/index.ts";
import type { OperationOutput, OperationParsedInput } from "../../shared/protocol/index.ts";
import type { JournalEntry, LiveInstance } from "../live/index.ts";
import type { Engine, StreamClient } from "../ports/index.ts";
import { BoundedOutput } from "./bounded-output.ts";
import { requireLive } from "./describe-session.ts";
import { EXIT_CODE_TIMED_OUT, Interruption } from "./interruption.ts";
import { keepShellAlive } from "./keep-shell-alive.ts";
import {
  type CommandOutput,
  closeOwnTerminal,
  endInput,
  hasOwnTerminal,
  readOutput,
} from "./own-terminal.ts";
import { quoteCommand } from "./quote-command.ts";
import { isLimited, tellHits, withEndReason } from "./session-limits.ts";
import { sessionShell } from "./shell.ts";
import { startInTime } from "./start-command.ts";
import { waitForPrompt } from "./wait-for-prompt.ts";

/** Shells that end one after the other are somebody's doing. */
const TRIES_MAX = 3;
/** A person is told what the shell is busy with when a command has waited this long. */
const WAIT_NOTICE_MS = 2_000;

type ExecInput = OperationParsedInput<"exec">;
type ExecOutput = OperationOutput<"exec">;

/**
 * Runs a command in a session and streams its output, stdout and stderr apart.
 *
 * In the live shell, what it does to the shell persists: directory, variables, functions, jobs.
 * The end of the command, and the prompt after it, is the end of the call; processes that it leaves
 * go on. A client that goes
 * away interrupts its command.
 *
 * @throws SESSION_WRONG_STATE  the session is not running.
 * @throws PROCESSES_FULL       the session, or the machine, can start no further process.
 * @throws SESSION_UNRESPONSIVE  its first process does not answer.
 * @throws SESSION_ENDED        the session was stopped, removed or restored meanwhile.
 */
export async function execInSession(
  session: SessionRow,
  input: ExecInput,
  client: StreamClient,
  engine: Engine,
): Promise<ExecOutput> {
  const live = requireLive(session, engine);
  const { dialect } = sessionShell(session, engine);
  const line = quoteCommand(input.command, dialect);
  using _waitedFor = engine.turns.command();
  const entry = engine.journal.begin(live, line, { inLiveShell: input.shell === "live" });
  try {
    const result = await runCommand({ session, live, entry }, input, client, engine);
    entry.end(result.exitCode);
    if (input.shell === "live" && !client.gone.aborted) await waitForPrompt(live);
    return result;
  } finally {
    entry.end(null);
  }
}

interface CommandToRun {
  session: SessionRow;
  live: LiveInstance;
  entry: JournalEntry;
}

/** A command that waited for a shell that then ended has done nothing, and goes to the next one. */
async function runCommand(
  command: CommandToRun,
  input: ExecInput,
  client: StreamClient,
  engine: Engine,
): Promise<ExecOutput> {
  for (let tries = 1; ; tries += 1) {
    const { result, wasTaken } = await runOnce(command, input, client, engine);
    if (wasTaken || tries >= TRIES_MAX || client.gone.aborted) return result;
  }
}

async function runOnce(
  { session, live, entry }: CommandToRun,
  input: ExecInput,
  client: StreamClient,
  engine: Engine,
): Promise<{ result: ExecOutput; wasTaken: boolean }> {
  const startedAtMs = performance.now();
  const hits = () => (isLimited(session) ? engine.limits.hits(live.instanceId) : null);
  const hitsBefore = hits();
  const { link } = live;
  const commandId = await startInTime({ session, live }, input, client, engine);
  if (commandId === null) return { result: notBegun(startedAtMs, client), wasTaken: true };
  const interruption = new Interruption(live, commandId, leftOf(input, startedAtMs), client);
  client.listen({
    onControl: (message) => {
      if (message.control === "signal") void interruption.send(message.signal);
      if (message.control === "resize") void resize(link, commandId, message, input);
    },
    onInput: (bytes) => passInput(link, commandId, bytes, input),
  });
  const notice = setTimeout(() => void tellWait(link, commandId, client), WAIT_NOTICE_MS);
  const onGone = () => {
    if (!hasOwnTerminal(input)) return void interruption.abandon();
    interruption.cancel();
    void closeOwnTerminal(link, commandId);
  };
  client.gone.addEventListener("abort", onGone, { once: true });
  let mayHaveEnded = true;
  try {
    const reader = readOutput(link, commandId, input);
    const { reason, ...output } = await forward({ reader, entry }, input, client, interruption);
    mayHaveEnded = output.shellEnded;
    const wasTaken = reason !== "shell-lost";
    if (!wasTaken) await keepShellAlive(live, engine);
    tellHits(hitsBefore, hits(), session, client);
    const timedOut = interruption.timedOut;
    const exitCode = timedOut ? EXIT_CODE_TIMED_OUT : output.exitCode;
    const durationMs = Math.round(performance.now() - startedAtMs);
    return { result: { ...output, exitCode, timedOut, durationMs }, wasTaken };
  } catch (error) {
    throw withEndReason(error, hitsBefore, { session, instanceId: live.instanceId }, engine);
  } finally {
    clearTimeout(notice);
    client.gone.removeEventListener("abort", onGone);
    interruption.cancel();
    if (hasOwnTerminal(input)) await closeOwnTerminal(link, commandId);
    if (mayHaveEnded) await keepShellAlive(live, engine);
    link.prepareReader();
  }
}

async function forward(
  { reader, entry }: { reader: CommandOutput; entry: JournalEntry },
  input: ExecInput,
  client: StreamClient,
  interruption: Interruption,
): Promise<Omit<ExecOutput, "timedOut" | "durationMs"> & { reason: EndReason }> {
  const kept = {
    stdout: new BoundedOutput(input.keepOutputBytes),
    stderr: new BoundedOutput(input.keepOutputBytes),
  };
  void interruption.failed.then(() => reader.close());
  for await (const { stream, bytes } of reader) {
    kept[stream].add(bytes);
    entry.add(bytes);
    if (!client.gone.aborted) await client.send(stream, bytes);
  }
  const { exitCode, signal, reason } = await Promise.race([reader.result, interruption.failed]);
  return {
    exitCode,
    signal: signal === 0 ? null : signal,
    reason,
    shellEnded: reason === "shell-ended",
    stdout: kept.stdout.text(),
    stderr: kept.stderr.text(),
    truncated: kept.stdout.truncated || kept.stderr.truncated,
  };
}

async function passInput(
  link: InitLink,
  commandId: number,
  bytes: Uint8Array,
  input: ExecInput,
): Promise<void> {
  if (!input.stdin) return;
  try {
    if (bytes.length === 0) await endInput(link, commandId, input);
    else await link.write(commandId, bytes);
  } catch (error) {
    // A command that has ended reads no more; its result is on the way.
    if (!hasCode(error, "TOOL_FAILED") && !hasCode(error, "SESSION_ENDED")) throw error;
  }
}

/** Only a terminal has a size; one that has ended meanwhile needs none. */
async function resize(
  link: InitLink,
  commandId: number,
  { columns, rows }: { columns: number; rows: number },
  input: ExecInput,
): Promise<void> {
  if (hasOwnTerminal(input)) await link.resize(commandId, columns, rows).catch(() => {});
}

async function tellWait(link: InitLink, commandId: number, client: StreamClient): Promise<void> {
  try {
    const { commands } = await link.list();
    if (commands.find(({ id }) => id === commandId)?.stage !== "queued") return;
    client.notice(
      "waiting: the session's shell is busy with another command; " +
        "--shell own would not wait, --timeout limits the wait",
    );
  } catch (error) {
    if (hasCode(error, "SESSION_UNRESPONSIVE")) client.notice(`waiting: ${error.message}`);
  }
}

/** Its beginning has taken a part of the command's time. */
function leftOf(input: ExecInput, startedAtMs: number): ExecInput {
  if (input.timeoutMs === undefined) return input;
  const timeoutMs = Math.max(0, input.timeoutMs - (performance.now() - startedAtMs));
  return { ...input, timeoutMs };
}

/** The result of a command whose time was over before it could be begun. */
function notBegun(startedAtMs: number, client: StreamClient): ExecOutput {
  client.notice("the command was not begun: another operation on the session is under way");
  return {
    ...{ exitCode: EXIT_CODE_TIMED_OUT, signal: null, timedOut: true, shellEnded: false },
    ...{ stdout: "", stderr: "", truncated: false },
    durationMs: Math.round(performance.now() - startedAtMs),
  };
}
