import { ERROR_REGISTRY, type ErrorCode } from "./registry.ts";

/** Facts about a failure for programs: paths, ids, numbers and bounded excerpts. */
export type ErrorDetail = Record<string, unknown>;

/** How an error travels between processes, and what `--json` prints. */
export interface ErrorWire {
  code: string;
  message: string;
  hint: string | null;
  detail: ErrorDetail;
}

/**
 * The one error class of Waypoint.
 *
 * `message` is one sentence of facts; `hint` says what to do next; `cause` keeps the wrapped error.
 * Across processes the `code` survives, so compare codes with {@link hasCode}, not classes.
 */
export class WaypointError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | null;
  readonly detail: ErrorDetail;

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint?: string; detail?: ErrorDetail; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "WaypointError";
    this.code = code;
    this.hint = options.hint ?? null;
    this.detail = options.detail ?? {};
  }

  /** Returns the wire form. */
  toJSON(): ErrorWire {
    return { code: this.code, message: this.message, hint: this.hint, detail: this.detail };
  }

  /** Rebuilds an error from its wire form; an unknown code becomes INTERNAL and stays in detail. */
  static fromJSON(wire: ErrorWire): WaypointError {
    const isKnown = Object.hasOwn(ERROR_REGISTRY, wire.code);
    const code = isKnown ? (wire.code as ErrorCode) : "INTERNAL";
    const detail = isKnown ? wire.detail : { ...wire.detail, unknownCode: wire.code };
    return new WaypointError(code, wire.message, {
      detail,
      ...(wire.hint === null ? {} : { hint: wire.hint }),
    });
  }
}

/** Tells whether `error` carries `code`, also when it came from another process. */
export function hasCode(error: unknown, code: ErrorCode): error is WaypointError {
  return error instanceof Error && "code" in error && error.code === code;
}

/**
 * Turns anything thrown into a {@link WaypointError}, to be used once at a public door.
 *
 * A cleanup failure during disposal hides the first error in a `SuppressedError`; the first one is
 * what the user needs, so it is unwrapped and the cleanup failure becomes a detail.
 */
export function toWaypointError(thrown: unknown): WaypointError {
  if (thrown instanceof WaypointError) return thrown;
  if (thrown instanceof SuppressedError && thrown.suppressed !== undefined) {
    const first = toWaypointError(thrown.suppressed);
    return new WaypointError(first.code, first.message, {
      ...(first.hint === null ? {} : { hint: first.hint }),
      detail: { ...first.detail, cleanupFailure: String(thrown.error) },
      cause: thrown,
    });
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new WaypointError("INTERNAL", `Internal error: ${message}`, {
    hint: "This is a defect of Waypoint; the daemon's log has the details.",
    cause: thrown,
    detail: thrown instanceof Error && thrown.stack ? { stack: thrown.stack.slice(0, 2000) } : {},
  });
}
