import { setTimeout as delay } from "node:timers/promises";
import type {
  CommandStage,
  ProgramSpec,
  TerminalState,
} from "../../../src/linux/terminal/index.ts";
import { bashProgram, openSandbox, rootProgram, type Sandbox } from "./sandbox.ts";

/** What a command left. */
export interface Outcome {
  stdout: string;
  stderr: string;
  exitCode: number;
  reason: string;
}

/** A sandbox with a live bash for the tests of one file, and short words for what they do with it. */
export class Driver {
  sandbox!: Sandbox;
  /** The terminal of the live bash. */
  shell = 0;

  /** Opens the sandbox; {@link close} ends it. */
  async open(): Promise<void> {
    this.sandbox = await openSandbox();
    this.shell = await this.link.openTerminal(bashProgram());
  }

  async close(): Promise<void> {
    await this.sandbox?.[Symbol.asyncDispose]();
  }

  get link() {
    return this.sandbox.link;
  }

  /** Starts a script in the live bash. */
  start(script: string, options: { show?: boolean } = {}): Promise<number> {
    return this.link.runInShell(this.shell, script, { shell: "bash", ...options });
  }

  async run(
    script: string,
    options: { tty?: boolean; shell?: "bash" | "posix" } = {},
    terminal = this.shell,
  ): Promise<Outcome> {
    return this.outcomeOf(
      await this.link.runInShell(terminal, script, { shell: "bash", ...options }),
    );
  }

  /** Runs a process of its own with empty input. */
  async spawn(argv: string[], change: Partial<ProgramSpec> = {}): Promise<Outcome> {
    const id = await this.link.spawn({ ...rootProgram(argv), ...change });
    await this.link.closeInput(id);
    return this.outcomeOf(id);
  }

  /** Starts a program on a new terminal. */
  openTerminal(argv: string[]): Promise<number> {
    return this.link.openTerminal({ ...rootProgram(argv), cols: 80, rows: 24 });
  }

  async outcomeOf(commandId: number): Promise<Outcome> {
    const reader = this.link.readCommand(commandId);
    const texts = { stdout: "", stderr: "" };
    for await (const { stream, bytes } of reader) texts[stream] += bytes.toString();
    const { exitCode, reason } = await reader.result;
    return { ...texts, exitCode, reason };
  }

  async stateOf(terminalId: number): Promise<TerminalState> {
    const { terminals } = await this.link.list();
    const state = terminals.find(({ id }) => id === terminalId);
    if (state === undefined) throw new Error(`no terminal ${terminalId}`);
    return state;
  }

  async stageOf(commandId: number): Promise<CommandStage | undefined> {
    const { commands } = await this.link.list();
    return commands.find(({ id }) => id === commandId)?.stage;
  }

  /** Awaits that a command runs, and a little more for it to have started its programs. */
  async untilRunning(commandId: number): Promise<void> {
    await until(
      () => this.stageOf(commandId),
      (stage) => stage === "running",
    );
    await delay(100);
  }

  /** What a terminal showed from `offset` until it showed `text`. */
  async shown(terminal: number, offset: bigint, text: string): Promise<string> {
    const reader = this.link.readTerminal(terminal, offset);
    let seen = "";
    for await (const { bytes } of reader) {
      seen += bytes.toString();
      if (seen.includes(text)) break;
    }
    reader.close();
    return seen;
  }
}

/** Reads again and again until `accept` likes it. */
export async function until<T>(read: () => Promise<T>, accept: (value: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 3_000; tries += 1) {
    const value = await read();
    if (accept(value)) return value;
    await delay(20);
  }
  throw new Error("waited in vain");
}
