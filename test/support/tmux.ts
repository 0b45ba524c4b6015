import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { eventually } from "./test-waypoint.ts";

const run = promisify(execFile);

/** A history file would be one of whoever runs the tests. */
const TERMINAL_ENVIRONMENT = {
  LC_ALL: "C.UTF-8",
  TERM: "xterm-256color",
  HISTFILE: "",
  LESSHISTFILE: "-",
};

/** A person's terminal emulator with a screen of its own, on a private tmux server. */
export class Tmux implements AsyncDisposable {
  readonly #directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-tmux-"));

  private constructor() {}

  /** Starts a line of shell on a screen of this size; the screen stays when it has ended. */
  static async start(
    line: string,
    { columns = 100, rows = 30 }: { columns?: number; rows?: number } = {},
  ): Promise<Tmux> {
    const tmux = new Tmux();
    const size = ["-x", String(columns), "-y", String(rows)];
    const keep = ["set", "-g", "remain-on-exit", "on", ";", "set", "-g", "status", "off", ";"];
    await tmux.call(...keep, "new-session", "-d", ...size, line);
    return tmux;
  }

  /** Runs a tmux command on this server and returns what it prints. */
  async call(...args: string[]): Promise<string> {
    const socket = path.join(this.#directory, "socket");
    const { stdout } = await run("tmux", ["-S", socket, "-f", "/dev/null", ...args], {
      env: { ...process.env, ...TERMINAL_ENVIRONMENT },
    });
    return stdout;
  }

  /** Types text as it is; `\r` is the Enter key. */
  async type(text: string): Promise<void> {
    const codes = [...Buffer.from(text, "utf8")].map((byte) => byte.toString(16));
    await this.call("send-keys", "-H", ...codes);
  }

  /** Pastes a file as the emulator does, bracketed where the program has asked for that. */
  async pasteFile(path: string): Promise<void> {
    await this.call("load-buffer", path, ";", "paste-buffer", "-p", "-d");
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.call("resize-window", "-x", String(columns), "-y", String(rows));
  }

  /** Returns the visible lines; with their attributes as escape sequences when asked for. */
  async screen(options: { escapes?: boolean } = {}): Promise<string> {
    return await this.call("capture-pane", "-p", ...(options.escapes ? ["-e"] : []));
  }

  /** Returns a variable of the pane, such as `mouse_any_flag`. */
  async variable(name: string): Promise<string> {
    return (await this.call("display-message", "-p", `#{${name}}`)).trimEnd();
  }

  /** Waits until the visible screen matches. */
  async shows(pattern: RegExp): Promise<string> {
    return await eventually(
      `${pattern} on the screen`,
      () => this.screen(),
      (screen) => pattern.test(screen),
    );
  }

  /** Ends the server and the programs on it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.call("kill-server");
    rmSync(this.#directory, { recursive: true });
  }
}
