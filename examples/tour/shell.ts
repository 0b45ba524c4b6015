import type { Session } from "../../src/index.ts";
import { showCommand, showOutput } from "./display.ts";
import { TourFailure } from "./expectation.ts";

const COMMAND_TIMEOUT_MS = 20_000;

export interface RunOptions {
  timeoutMs?: number;
  /** Lines of output shown. @defaultValue 12 */
  linesMax?: number;
  /** Exit code that the command must have; "any" accepts all. @defaultValue 0 */
  exitCode?: number | "any";
}

export interface RunResult {
  exitCode: number;
  stdout: string;
  stderr: string;
  durationMs: number;
}

/** The live shell of a session: what one call does to it, the next call finds. */
export class Shell {
  readonly session: Session;

  constructor(session: Session) {
    this.session = session;
  }

  /** Runs a line, shows it with its output, and returns the output. */
  async run(command: string, options: RunOptions = {}): Promise<RunResult> {
    showCommand(this.session.name, command);
    const result = await this.ask(command, options.timeoutMs);
    showOutput(result.stdout + result.stderr, options.linesMax);
    const wanted = options.exitCode ?? 0;
    if (wanted !== "any" && result.exitCode !== wanted) throw commandFailure(command, result);
    return result;
  }

  /** Runs a line without showing it. */
  async ask(command: string, timeoutMs = COMMAND_TIMEOUT_MS): Promise<RunResult> {
    return this.session.exec(command, { timeoutMs });
  }

  /** Runs a line that must succeed, without showing it, and returns its standard output. */
  async read(command: string): Promise<string> {
    const result = await this.ask(command);
    if (result.exitCode !== 0) throw commandFailure(command, result);
    return result.stdout.trimEnd();
  }
}

function commandFailure(command: string, result: RunResult): TourFailure {
  const lastLine = (result.stderr.trim() || result.stdout.trim()).split("\n").at(-1) ?? "";
  return new TourFailure(`\`${command}\` ended with exit code ${result.exitCode}: ${lastLine}`);
}
