import { constants } from "node:os";
import { findStandstill, unresponsive } from "../../base/index.ts";
import type { InitLink, RunInShellOptions } from "../../linux/terminal/index.ts";
import type { SessionRow } from "../../portable/model/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import type { OperationParsedInput } from "../../shared/protocol/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine, StreamClient } from "../ports/index.ts";
import { keepShellAlive } from "./keep-shell-alive.ts";
import { closeOwnTerminal, endInput, hasOwnTerminal } from "./own-terminal.ts";
import { quoteCommand } from "./quote-command.ts";
import { withSpawnReason } from "./session-limits.ts";
import { requireDirectory, sessionShell, shellEnvironment } from "./shell.ts";

const { ESRCH } = constants.errno;

type ExecInput = OperationParsedInput<"exec">;

interface CommandPlace {
  session: SessionRow;
  live: LiveInstance;
}

/**
 * Begins a command and returns its id; `null` when its time is over before init could be asked,
 * which has to wait for a dump that is under way.
 *
 * @throws SESSION_UNRESPONSIVE  init does not answer; a command that it begins later is ended.
 * @throws CANCELLED             the client has left.
 */
export async function startInTime(
  place: CommandPlace,
  input: ExecInput,
  client: StreamClient,
  engine: Engine,
): Promise<number | null> {
  const isOver = new AbortController();
  const stop = AbortSignal.any([isOver.signal, client.gone]);
  const { timeoutMs } = input;
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => isOver.abort(), timeoutMs);
  const stopped = Promise.withResolvers<null>();
  const onStop = () => stopped.resolve(null);
  stop.addEventListener("abort", onStop, { once: true });
  const { pid, link } = place.live;
  const starting = startWithRoom(() => startCommand(place, input, engine, stop), engine);
  try {
    const commandId = await Promise.race([starting, stopped.promise]);
    if (commandId !== null) return commandId;
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", onStop);
  }
  starting.then((commandId) => giveUp(link, commandId, input)).catch(() => {});
  if (client.gone.aborted) throw new WaypointError("CANCELLED", "The operation was cancelled.");
  if (!link.isQuiesced && findStandstill(pid) !== null) throw unresponsive(pid);
  return null;
}

function giveUp(link: InitLink, commandId: number, input: ExecInput): void {
  if (hasOwnTerminal(input)) void closeOwnTerminal(link, commandId);
  else link.giveUp(commandId);
}

/** Tries again where the space of removed files was not given back yet. */
async function startWithRoom(start: () => Promise<number>, engine: Engine): Promise<number> {
  try {
    return await start();
  } catch (error) {
    if (!hasCode(error, "STORE_FULL") || !(await engine.store.space.reclaim("new"))) throw error;
    return await start();
  }
}

async function startCommand(
  { session, live }: CommandPlace,
  input: ExecInput,
  engine: Engine,
  signal: AbortSignal,
): Promise<number> {
  const { shellPath, dialect } = sessionShell(session, engine);
  const line = quoteCommand(input.command, dialect);
  if (input.shell === "live") {
    requireNothingOfItsOwn(input);
    return await runInLiveShell(live, line, { tty: input.tty, shell: dialect, signal }, engine);
  }
  const rootDir = engine.sandbox.mergedDir(live.instanceId);
  const user = engine.sandbox.findUser(rootDir, input.user ?? session.user);
  // Another user may not enter where the session's own has started.
  const directoryOf = () => {
    if (input.user === undefined) return session.cwd;
    return engine.sandbox.isDirectoryInside(rootDir, user.home) ? user.home : "/";
  };
  const program = {
    argv: [shellPath, "-c", line],
    env: { ...shellEnvironment(user, shellPath), ...input.env },
    cwd: requireDirectory(rootDir, input.cwd ?? directoryOf(), engine),
    uid: user.uid,
    gid: user.gid,
    groups: user.groups,
  };
  const before = engine.limits.hits(live.instanceId);
  const { link } = live;
  const starting = hasOwnTerminal(input)
    ? link.openTerminal({ ...program, cols: input.columns, rows: input.rows }, signal)
    : link.spawn(program, signal);
  const commandId = await starting.catch((error: unknown) => {
    throw withSpawnReason(error, session, { before, after: engine.limits.hits(live.instanceId) });
  });
  if (!input.stdin) await endInput(link, commandId, input);
  return commandId;
}

/** What the live shell has already is not to be had otherwise. @throws USAGE_INVALID */
function requireNothingOfItsOwn({ stdin, cwd, user, env }: ExecInput): void {
  const isOther = cwd !== undefined || user !== undefined || Object.keys(env).length > 0;
  if (!stdin && !isOther) return;
  throw new WaypointError(
    "USAGE_INVALID",
    "The live shell keeps its own directory, user, variables and input.",
    { hint: "Use `--shell own` with --stdin, --cwd, --user or --env." },
  );
}

/** Runs a line in the live shell; where somebody has ended that shell, in a fresh one. */
export async function runInLiveShell(
  live: LiveInstance,
  line: string,
  options: RunInShellOptions,
  engine: Engine,
): Promise<number> {
  try {
    return await live.link.runInShell(live.terminalId, line, options);
  } catch (error) {
    const isEnded = hasCode(error, "TOOL_FAILED") && error.detail["errno"] === ESRCH;
    if (!isEnded) throw error;
    await keepShellAlive(live, engine);
    return await live.link.runInShell(live.terminalId, line, options);
  }
}
