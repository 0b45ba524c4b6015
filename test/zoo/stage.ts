import type { Checkpoint, Session } from "../../src/index.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { eventually } from "../support/test-waypoint.ts";

/** Other work may share the machine; nothing here waits longer than it has to. */
const COMMAND_TIMEOUT_MS = 120_000;
const WAIT_MS = 120_000;

/** A session in which a program is tried, with an attached terminal. */
export class Stage {
  readonly session: Session;
  readonly terminal: TestTerminal;
  #questions = 0;

  private constructor(session: Session, terminal: TestTerminal) {
    this.session = session;
    this.terminal = terminal;
  }

  /** Opens a stage on a new fork of `checkpoint`. */
  static async fork(checkpoint: Checkpoint): Promise<Stage> {
    const [session] = await checkpoint.fork();
    if (session === undefined) throw new Error("no fork");
    return new Stage(session, await TestTerminal.attach(session, WAIT_MS));
  }

  /** Runs a line of shell beside the program and returns its output; a failure is thrown. */
  async run(line: string, input?: string): Promise<string> {
    const result = await this.session.exec(["bash", "-c", line], {
      shell: "own",
      timeoutMs: COMMAND_TIMEOUT_MS,
      ...(input === undefined ? {} : { input }),
    });
    const output = (result.stdout + result.stderr).trim();
    if (result.exitCode !== 0) throw new Error(`${line}: exit ${result.exitCode}: ${output}`);
    return output;
  }

  /** Writes a file of the session. */
  async write(path: string, text: string): Promise<void> {
    await this.run(`mkdir -p "$(dirname ${path})" && cat > ${path}`, text);
  }

  /** Starts a line of shell that lives on in the background. */
  async background(line: string): Promise<void> {
    await this.write("/root/background.sh", `${line}\n`);
    await this.run("setsid bash /root/background.sh > /root/background.log 2>&1 < /dev/null &");
  }

  /** Waits until a line of shell succeeds with output that matches. */
  async until(line: string, pattern: RegExp, timeoutMs = WAIT_MS): Promise<string> {
    const read = () => this.run(line).catch((error: unknown) => String(error));
    return await eventually(line, read, (output) => pattern.test(output), timeoutMs);
  }

  /** Types a line into the attached terminal. */
  async enter(line: string): Promise<void> {
    await this.terminal.type(`${line}\r`);
  }

  /** Types a question with a number of its own, and returns the answer `number:…:`. */
  async ask(question: (number: string) => string): Promise<string> {
    this.#questions += 1;
    const number = `${this.session.id}${this.#questions}`;
    await this.enter(question(number));
    const [, answer = ""] = await this.terminal.waitFor(new RegExp(`^\\W*${number}:(.*?):`));
    return answer;
  }

  /** Returns the visible lines without the empty ones at the end. */
  screen(): string {
    return this.terminal.screen().join("\n").trimEnd();
  }

  /**
   * Returns the visible lines that match. What a program draws besides, such as a message that
   * goes away or where the cursor stands, may be a moment older or newer.
   */
  lines(pattern: RegExp): string {
    const lines = this.terminal.screen().filter((line) => pattern.test(line));
    return lines.map((line) => line.trimEnd()).join("\n");
  }

  /** Waits until `see` returns something that `accept` accepts, and returns it. */
  async sees(
    see: (stage: Stage) => Promise<string>,
    accept: (state: string) => boolean,
    what: string,
  ): Promise<string> {
    return await eventually(what, () => see(this), accept, WAIT_MS);
  }

  /** Ends the session and all that it left. */
  async remove(): Promise<void> {
    await this.terminal[Symbol.asyncDispose]();
    await this.session.remove({ force: true });
  }
}
