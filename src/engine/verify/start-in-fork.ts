import { pollUntil } from "../../base/index.ts";
import type { ShellDialect } from "../../linux/sandbox/index.ts";
import type { CheckpointRow } from "../../portable/model/index.ts";
import { hasCode } from "../../shared/errors/index.ts";
import type { ThrowawayFork } from "../checkpoint/index.ts";
import type { Engine } from "../ports/index.ts";
import { quoteCommand, runInLiveShell, sessionShell, shellEnvironment } from "../session/index.ts";
import { readShellContext } from "../story/index.ts";

/** What a shell may do before its prompt, such as looking for a Python environment. */
const PROMPT_TIMEOUT_MS = 1_000;

/**
 * Starts a command in a fork, its two outputs joined so that they keep their order, and returns the
 * command's id in the fork's init.
 *
 * @throws SESSION_ENDED | TOOL_FAILED
 */
export async function startInFork(
  fork: ThrowawayFork,
  checkpoint: CheckpointRow,
  command: readonly string[],
  engine: Engine,
): Promise<number> {
  const { live, session } = fork;
  const { dialect } = sessionShell(session, engine);
  const line = joinOutputs(command, dialect);
  // One that has just been started comes to its prompt.
  if (checkpoint.content === "files" || (await isShellFree(fork, dialect !== "posix"))) {
    return await runInLiveShell(live, line, { shell: dialect }, engine);
  }
  return await startBeside(fork, checkpoint, command, engine);
}

/** Two pipes have no order between them; one has. */
function joinOutputs(command: readonly string[], dialect: ShellDialect): string {
  return `${quoteCommand(["eval", quoteCommand(command, dialect)], dialect)} 2>&1`;
}

/**
 * Tells whether the shell waits for a line, or does after what it does before each prompt. Of one
 * without a line editor that is not known: it is taken to, where nothing else is in the foreground.
 */
async function isShellFree({ live }: ThrowawayFork, hasLineEditor: boolean): Promise<boolean> {
  const { commands } = await live.link.list();
  // Whoever waited for these is not here; they must not block on output that nobody reads.
  await Promise.all(commands.map(({ id }) => live.link.discard(id)));
  if (commands.some(({ kind, stage }) => kind === "shell" && stage === "running")) return false;
  const look = async () => {
    const { terminals } = await live.link.list();
    const terminal = terminals.find(({ id }) => id === live.terminalId);
    const isFree = hasLineEditor
      ? terminal?.isAtPrompt === true
      : terminal?.isAlive === true && terminal.foreground === terminal.pid;
    return isFree ? true : undefined;
  };
  try {
    return await pollUntil("the prompt", { timeoutMs: PROMPT_TIMEOUT_MS, intervalMs: 20 }, look);
  } catch (error) {
    if (hasCode(error, "DEADLINE_EXCEEDED")) return false;
    throw error;
  }
}

/** Starts it beside a shell that is busy, with the directory and the variables of that shell. */
export async function startBeside(
  { live, session }: ThrowawayFork,
  checkpoint: CheckpointRow,
  command: readonly string[],
  engine: Engine,
): Promise<number> {
  const { sandbox } = engine;
  const { shellPath, dialect } = sessionShell(session, engine);
  const rootDir = sandbox.mergedDir(live.instanceId);
  const user = sandbox.findUser(rootDir, session.user);
  const { cwd, environment } = await readShellContext(checkpoint, engine);
  const isThere = cwd !== null && sandbox.isDirectoryInside(rootDir, cwd);
  const commandId = await live.link.spawn({
    argv: [shellPath, "-c", joinOutputs(command, dialect)],
    env: { ...shellEnvironment(user, shellPath), ...environment },
    cwd: isThere ? cwd : "/",
    uid: user.uid,
    gid: user.gid,
    groups: user.groups,
  });
  await live.link.closeInput(commandId);
  return commandId;
}
