import type { Session } from "../../src/index.ts";
import { ScreenModel } from "../../src/linux/terminal/index.ts";
import { eventually } from "./test-waypoint.ts";

const COLUMNS = 100;
const ROWS = 30;
const WAIT_MS = 60_000;

/** An attached terminal with a screen, and hands that type. */
export class TestTerminal implements AsyncDisposable {
  readonly #stream: Awaited<ReturnType<Session["attach"]>>;
  readonly #screen = new ScreenModel(COLUMNS, ROWS);
  readonly #chunks: Uint8Array[] = [];
  readonly #ended: Promise<void>;
  readonly #waitMs: number;
  #end = "";

  private constructor(stream: Awaited<ReturnType<Session["attach"]>>, waitMs: number) {
    this.#stream = stream;
    this.#waitMs = waitMs;
    this.#ended = this.#show();
    // An end is no failure by itself; whoever waits for a line is told of it.
    this.#ended.then(
      () => (this.#end = "\nThe attachment has ended."),
      (error: unknown) => (this.#end = `\nThe attachment has ended: ${String(error)}`),
    );
  }

  /** @param waitMs  how long it waits for what is to appear */
  static async attach(session: Session, waitMs = WAIT_MS): Promise<TestTerminal> {
    const stream = await session.attach({ columns: COLUMNS, rows: ROWS });
    const terminal = new TestTerminal(stream, waitMs);
    // Keys are taken from the moment at which the first picture is there.
    await eventually(
      "the first picture of a terminal",
      () => terminal.#chunks.length,
      (count) => count > 0,
      waitMs,
    );
    return terminal;
  }

  /** Types keys; a line ends with `\r`. */
  async type(keys: string): Promise<void> {
    await this.#stream.write(Buffer.from(keys, "utf8"));
  }

  /** Returns the visible lines. */
  screen(): string[] {
    return this.#screen.text();
  }

  /** Waits until a visible line matches, and returns the match. */
  async waitFor(pattern: RegExp): Promise<RegExpExecArray> {
    const find = () => {
      const matches = this.screen().map((line) => pattern.exec(line));
      return matches.find((match) => match !== null) ?? null;
    };
    const show = () =>
      new Error(`no ${pattern} on the screen:\n${this.screen().join("\n").trim()}${this.#end}`);
    try {
      await eventually("a line", find, (match) => match !== null, this.#waitMs);
    } catch {
      throw show();
    }
    const match = find();
    if (match === null) throw show();
    return match;
  }

  /** Returns everything that the daemon has sent, redraws included. */
  raw(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }

  /** Leaves the session; resolves when the daemon has let go. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stream.control({ control: "detach" });
    await this.#ended.catch(() => {});
    this.#screen.dispose();
  }

  async #show(): Promise<void> {
    for await (const event of this.#stream) {
      if (event.kind !== "stdout") continue;
      await this.#screen.write(event.bytes);
      this.#chunks.push(event.bytes);
    }
  }
}
