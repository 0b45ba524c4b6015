/** Writes one line of JSON per event to the daemon's log. */
export interface Logger {
  info(event: string, facts?: Record<string, unknown>): void;
  warn(event: string, facts?: Record<string, unknown>): void;
  error(event: string, error: unknown, facts?: Record<string, unknown>): void;
}

/** Returns a logger that hands finished lines to `write`. */
export function createLogger(write: (line: string) => void): Logger {
  const put = (level: string, event: string, facts: Record<string, unknown>) =>
    write(`${JSON.stringify({ at: new Date().toISOString(), level, event, ...facts })}\n`);
  return {
    info: (event, facts = {}) => put("info", event, facts),
    warn: (event, facts = {}) => put("warn", event, facts),
    error: (event, error, facts = {}) => put("error", event, { ...facts, ...explain(error) }),
  };
}

function explain(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const detail = "detail" in error ? { detail: error.detail } : {};
  const cause = error.cause === undefined ? {} : { cause: String(error.cause) };
  return { message: error.message, stack: error.stack?.slice(0, 4000), ...detail, ...cause };
}
