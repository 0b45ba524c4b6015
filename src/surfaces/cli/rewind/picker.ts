import { toWaypointError } from "../../../shared/errors/index.ts";
import type { OperationOutput, Verified } from "../../../shared/protocol/index.ts";
import { callOperation, eachLine, openStream } from "../../client/index.ts";
import type { CommandContext } from "../context.ts";
import { renderDiff } from "../diff/render-diff.ts";
import { renderVerdict } from "../render-verification.ts";
import type { TerminalSize } from "../terminal/terminal-size.ts";
import { printable } from "../text/printable.ts";
import type { FittedLine } from "../timeline/fit-lines.ts";
import { renderTimelineRows } from "../timeline/render-timeline.ts";
import { drawScreen } from "./draw-screen.ts";
import { planLayout } from "./layout.ts";
import { Previews } from "./previews.ts";
import { renderPreview } from "./render-preview.ts";
import { type Effect, type Key, type PickerState, press, showCheckpoints } from "./state.ts";

type Log = OperationOutput<"log">;

/** What the picker does to the terminal, which belongs to somebody else. */
export interface PickerScreen {
  /** Something is to be drawn anew. */
  changed: () => void;
  /** Shows lines in the pager; resolves when it was left. */
  page: (lines: readonly string[]) => Promise<void>;
  /** The picker is done: with a checkpoint to go back to, or `null`. */
  leave: (restore: string | null) => void;
}

/** What a checkpoint is chosen from. */
export interface PickedFrom {
  session: { id: string; name: string };
  log: Log;
  /** As of the timeline. */
  noise?: readonly string[];
}

/** Chooses a checkpoint of one session: keys come in, lines come out. */
export class Picker implements Disposable {
  readonly #context: CommandContext;
  readonly #session: { id: string; name: string };
  readonly #screen: PickerScreen;
  readonly #previews: Previews;
  /** Aborted when the picker is left: what runs for it is given up. */
  readonly #leaving = new AbortController();
  /** What is to be told of each fork; `null` of one that failed. */
  readonly #forks: Promise<string | null>[] = [];
  readonly #noise: readonly string[];
  #log: Log;
  #state: PickerState;
  #message = "";
  #drawn: { log: Log; columns: number; rows: readonly FittedLine[] } | null = null;

  constructor(
    context: CommandContext,
    { session, log, noise = [] }: PickedFrom,
    screen: PickerScreen,
  ) {
    this.#context = context;
    this.#session = session;
    this.#screen = screen;
    this.#noise = noise;
    this.#log = log;
    this.#previews = new Previews(
      (checkpoint, signal) => this.#compare(checkpoint, { patch: false, signal }),
      () => screen.changed(),
    );
    const empty = { checkpoints: [], selected: null, query: "", lastCommand: "" } as const;
    this.#state = { ...empty, mode: { kind: "list" }, selected: this.#head };
    this.#show(log);
  }

  /** The lines of a screen of this size. */
  draw(size: TerminalSize): string[] {
    const { paint } = this.#context.output;
    const checkpoint = this.#log.checkpoints.find(({ id }) => id === this.#state.selected);
    const told = { log: this.#log, head: this.#head, session: this.#session.name, paint };
    const preview =
      checkpoint === undefined
        ? ["No checkpoint."]
        : renderPreview(checkpoint, this.#previews.of(checkpoint.id), told);
    const rowsOf = (columns: number) => this.#rowsOf(columns);
    const { name: session } = this.#session;
    const scene = { state: this.#state, session, rowsOf, preview, message: this.#message, paint };
    return drawScreen(scene, size);
  }

  /** Takes a key. */
  press(key: Key, size: TerminalSize): void {
    const { state, effect } = press(this.#state, key, planLayout(size).list.rows);
    this.#state = state;
    this.#message = "";
    this.#previews.look(state.selected);
    if (effect !== undefined) void this.#carryOut(effect);
    this.#screen.changed();
  }

  /** What was forked, a line each, for its screen goes; waits for those that are under way. */
  async forked(): Promise<string[]> {
    const told = await Promise.all(this.#forks);
    return told.filter((line) => line !== null).map(printable);
  }

  [Symbol.dispose](): void {
    this.#leaving.abort();
    this.#previews[Symbol.dispose]();
  }

  /** Drawn once for each width: thousands of checkpoints take longer than a key may. */
  #rowsOf(columns: number): readonly FittedLine[] {
    const { nowMs, output } = this.#context;
    if (this.#drawn?.log !== this.#log || this.#drawn.columns !== columns) {
      const options = { nowMs, columns, paint: output.paint, noise: this.#noise };
      const rows = renderTimelineRows(this.#log, options);
      this.#drawn = { log: this.#log, columns, rows };
    }
    return this.#drawn.rows;
  }

  /** Where the session stands. */
  get #head(): string | null {
    return this.#log.sessions.find(({ id }) => id === this.#session.id)?.head ?? null;
  }

  async #carryOut(effect: Effect): Promise<void> {
    try {
      await this.#perform(effect);
    } catch (thrown) {
      if (this.#leaving.signal.aborted) return;
      const { message, hint } = toWaypointError(thrown);
      this.#say(`${message} ${hint ?? ""}`.trimEnd());
    }
  }

  async #perform(effect: Effect): Promise<void> {
    switch (effect.kind) {
      case "leave":
        return this.#screen.leave(null);
      case "restore":
        return this.#screen.leave(effect.checkpoint);
      case "preview":
        return this.#previews.look(effect.checkpoint, { fresh: true });
      case "search":
        return await this.#search(effect.query);
      case "diff":
        return await this.#pageDiff(effect.checkpoint);
      case "fork":
        return await this.#fork(effect.checkpoint);
      case "verify":
        return await this.#verify(effect);
    }
  }

  async #search(query: string): Promise<void> {
    const log = await this.#readLog(query);
    if (log.checkpoints.length === 0 && query !== "") {
      return this.#say(`No checkpoint has "${query}".`);
    }
    this.#state = { ...this.#state, query };
    this.#show(log);
    this.#screen.changed();
  }

  async #pageDiff(checkpoint: string): Promise<void> {
    this.#say("Comparing…");
    const { signal } = this.#leaving;
    const changes = await this.#compare(checkpoint, { patch: true, signal });
    const { paint } = this.#context.output;
    const lines = renderDiff(changes, { style: "patches", isBelowPath: false, paint });
    if (lines.length === 0) return this.#say("Nothing differs.");
    this.#say("");
    await this.#screen.page(lines);
  }

  async #fork(checkpoint: string): Promise<void> {
    this.#say("Forking…");
    // Not given up when the picker is left: it would be undone, and nobody would know.
    const forked = callOperation(this.#context.stateDir, "fork", { checkpoint });
    const told = forked.then(({ sessions: [fork] }) => {
      return `Session ${fork?.name} was forked from ${checkpoint}: waypoint attach ${fork?.name}`;
    });
    this.#forks.push(told.catch(() => null));
    await this.#refreshAndSay(await told);
  }

  async #verify({ checkpoint, command }: Extract<Effect, { kind: "verify" }>): Promise<void> {
    this.#say(`Verifying ${checkpoint}…`);
    const { stateDir } = this.#context;
    const input = { checkpoints: [checkpoint], command: [command] };
    const stream = await openStream(stateDir, "verify", input, { signal: this.#leaving.signal });
    await eachLine(stream, async (_: Verified) => {});
    const [verified] = (await stream.result).results;
    const verification = verified?.verification ?? null;
    await this.#refreshAndSay(
      verification === null
        ? `${checkpoint}: ${verified?.error?.message ?? "not verified"}`
        : `${checkpoint}: ${renderVerdict(verification, (_format, text) => text)}`,
    );
  }

  async #compare(
    checkpoint: string,
    { patch, signal }: { patch: boolean; signal: AbortSignal },
  ): Promise<OperationOutput<"diff">> {
    const input = { from: this.#session.id, to: checkpoint, patch };
    return await callOperation(this.#context.stateDir, "diff", input, { signal });
  }

  async #readLog(query: string): Promise<Log> {
    const filter = query === "" ? {} : { grep: query };
    const input = { session: this.#session.id, ...filter };
    const { signal } = this.#leaving;
    return await callOperation(this.#context.stateDir, "log", input, { signal });
  }

  /** Tells what was done, also where the session has been removed meanwhile. */
  async #refreshAndSay(message: string): Promise<void> {
    const log = await this.#readLog(this.#state.query).catch(() => null);
    if (log !== null) this.#show(log);
    this.#say(message);
  }

  #show(log: Log): void {
    this.#log = log;
    const ids = log.checkpoints.toSorted(byTime).map(({ id }) => id);
    this.#state = showCheckpoints(this.#state, ids);
    this.#previews.look(this.#state.selected);
  }

  #say(message: string): void {
    this.#message = printable(message);
    this.#screen.changed();
  }
}

function byTime(a: { createdAt: string }, b: { createdAt: string }): number {
  return a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0;
}
