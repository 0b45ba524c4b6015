import type { OperationOutput } from "../../shared/protocol/index.ts";
import { ForwardedSession } from "./forwarded-session.ts";
import type { ExecOptions, SpawnOptions } from "./options.ts";
import { runCommand } from "./run-command.ts";
import { RunningCommand } from "./running-command.ts";

/** What a program runs in a session. */
export class CommandedSession extends ForwardedSession {
  readonly #stateDir: string;

  constructor(stateDir: string, facts: { id: string; name: string }) {
    super(stateDir, facts);
    this.#stateDir = stateDir;
  }

  /**
   * Runs a command and returns its result; a command that fails is a result, not an error.
   *
   * A string is a line of shell, an array a program and its arguments. By default it runs in the
   * session's live shell, so that `cd` and `export` persist for the next call.
   *
   * @throws SESSION_WRONG_STATE | SESSION_ENDED | CANCELLED
   */
  async exec(
    command: string | readonly string[],
    options: ExecOptions = {},
  ): Promise<OperationOutput<"exec">> {
    return await runCommand(this.#stateDir, this.id, command, options);
  }

  /**
   * Starts a command as {@link exec} does, and returns it at once: its output is read as it comes, and a
   * slow reader slows it down. With `await using` it ends with its block; an aborted `signal` interrupts it.
   */
  spawn(command: string | readonly string[], options: SpawnOptions = {}): RunningCommand {
    return new RunningCommand(this.#stateDir, this.id, command, options);
  }
}
