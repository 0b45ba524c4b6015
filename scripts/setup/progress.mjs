const REDRAW_INTERVAL_MS = 200;

/**
 * Tells a person what the set-up does: one line for each finished step, on standard error.
 *
 * On a terminal the steps at work are shown below them in a line that is redrawn; elsewhere there
 * are only the finished lines.
 */
export class Progress {
  /** @param {{ stream?: NodeJS.WriteStream, isQuiet?: boolean }} [options] */
  constructor({ stream = process.stderr, isQuiet = false } = {}) {
    this.stream = stream;
    this.isQuiet = isQuiet;
    this.isLive = stream.isTTY === true && !isQuiet;
    /** @type {Map<string, number>} */
    this.startedAtMs = new Map();
    this.timer = undefined;
  }

  /** Prints a line of its own. */
  say(text) {
    if (this.isQuiet) return;
    this.#clear();
    this.stream.write(`${text}\n`);
    this.#draw();
  }

  /** Marks a step as being at work. */
  begin(title) {
    this.startedAtMs.set(title, performance.now());
    if (this.isLive && this.timer === undefined) {
      this.timer = setInterval(() => this.#draw(), REDRAW_INTERVAL_MS);
      this.timer.unref();
    }
    this.#draw();
  }

  /** Prints the line of a finished step and returns how long it took. */
  done(title, detail) {
    const durationMs = this.#end(title);
    const mark = this.isLive ? "\x1b[32m✓\x1b[0m" : "ok";
    this.say(`  ${mark} ${title.padEnd(16)} ${detail} (${formatDuration(durationMs)})`);
    return durationMs;
  }

  /** Prints the line of a step that failed; the reason follows as the error. */
  failed(title) {
    const durationMs = this.#end(title);
    const mark = this.isLive ? "\x1b[31m✗\x1b[0m" : "--";
    this.say(`  ${mark} ${title.padEnd(16)} failed (${formatDuration(durationMs)})`);
  }

  #end(title) {
    const durationMs = performance.now() - (this.startedAtMs.get(title) ?? performance.now());
    this.startedAtMs.delete(title);
    if (this.startedAtMs.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
    return durationMs;
  }

  #clear() {
    if (this.isLive) this.stream.write("\r\x1b[K");
  }

  #draw() {
    if (!this.isLive || this.startedAtMs.size === 0) return;
    const nowMs = performance.now();
    const parts = [...this.startedAtMs].map(
      ([title, startMs]) => `${title} ${Math.floor((nowMs - startMs) / 1000)} s`,
    );
    const text = `  … ${parts.join(", ")}`.slice(0, (this.stream.columns ?? 80) - 1);
    this.stream.write(`\r\x1b[K${text}`);
  }
}

/** Formats a duration for a person: "12 ms", "3.4 s". */
export function formatDuration(durationMs) {
  return durationMs < 1000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1000).toFixed(1)} s`;
}
