/**
 * Every error code of Waypoint, one row each.
 *
 * A code is public: it is never reused and never changes its meaning. The exit code and the HTTP
 * status follow from the kind of failure, that is from who has to act.
 */
export const ERROR_REGISTRY = {
  USAGE_INVALID: { kind: "usage", exitCode: 2, httpStatus: 400, retryable: false },
  NAME_INVALID: { kind: "usage", exitCode: 2, httpStatus: 400, retryable: false },
  BASE_INVALID: { kind: "usage", exitCode: 2, httpStatus: 400, retryable: false },

  SESSION_NOT_FOUND: { kind: "state", exitCode: 10, httpStatus: 404, retryable: false },
  CHECKPOINT_NOT_FOUND: { kind: "state", exitCode: 10, httpStatus: 404, retryable: false },
  REFERENCE_AMBIGUOUS: { kind: "state", exitCode: 10, httpStatus: 409, retryable: false },
  NAME_IN_USE: { kind: "state", exitCode: 12, httpStatus: 409, retryable: false },
  SESSION_BUSY: { kind: "state", exitCode: 11, httpStatus: 423, retryable: true },
  SESSION_WRONG_STATE: { kind: "state", exitCode: 12, httpStatus: 409, retryable: false },
  SESSION_ENDED: { kind: "state", exitCode: 12, httpStatus: 409, retryable: false },
  CHECKPOINT_OF_OTHER_SESSION: { kind: "state", exitCode: 12, httpStatus: 409, retryable: false },
  NOTHING_TO_UNDO: { kind: "state", exitCode: 12, httpStatus: 409, retryable: false },
  FORK_REFUSED: { kind: "state", exitCode: 12, httpStatus: 409, retryable: false },

  HOST_UNSUPPORTED: { kind: "host", exitCode: 20, httpStatus: 501, retryable: false },
  PRIVILEGE_MISSING: { kind: "host", exitCode: 20, httpStatus: 403, retryable: false },
  SETUP_INCOMPLETE: { kind: "host", exitCode: 20, httpStatus: 501, retryable: false },
  SETUP_FAILED: { kind: "host", exitCode: 20, httpStatus: 500, retryable: true },
  STORE_FULL: { kind: "host", exitCode: 20, httpStatus: 507, retryable: true },
  STATE_DIR_BUSY: { kind: "host", exitCode: 20, httpStatus: 409, retryable: false },
  DAEMON_UNREACHABLE: { kind: "host", exitCode: 20, httpStatus: 503, retryable: true },
  DAEMON_VERSION_MISMATCH: { kind: "host", exitCode: 20, httpStatus: 409, retryable: false },

  CRIU_DUMP_FAILED: { kind: "tool", exitCode: 21, httpStatus: 500, retryable: false },
  CRIU_RESTORE_FAILED: { kind: "tool", exitCode: 22, httpStatus: 500, retryable: false },
  SANDBOX_FAILED: { kind: "tool", exitCode: 21, httpStatus: 500, retryable: false },
  STORE_FAILED: { kind: "tool", exitCode: 21, httpStatus: 500, retryable: false },
  TOOL_FAILED: { kind: "tool", exitCode: 21, httpStatus: 500, retryable: false },

  CHECKPOINT_INCOMPLETE: { kind: "data", exitCode: 23, httpStatus: 500, retryable: false },
  FORMAT_TOO_NEW: { kind: "data", exitCode: 23, httpStatus: 500, retryable: false },

  DEADLINE_EXCEEDED: { kind: "state", exitCode: 11, httpStatus: 504, retryable: true },
  CANCELLED: { kind: "cancelled", exitCode: 130, httpStatus: 499, retryable: true },
  INTERNAL: { kind: "internal", exitCode: 70, httpStatus: 500, retryable: false },
} as const satisfies Record<string, ErrorRow>;

/** Who has to act on a failure. */
export type ErrorKind =
  | "usage"
  | "state"
  | "host"
  | "tool"
  | "data"
  | "cancelled"
  | "internal";

/** What is derived from an error code. */
export interface ErrorRow {
  kind: ErrorKind;
  exitCode: number;
  httpStatus: number;
  retryable: boolean;
}

/** A code of the registry. */
export type ErrorCode = keyof typeof ERROR_REGISTRY;

/** Exit code for an error code that this client does not know (a newer daemon). */
export const EXIT_CODE_UNKNOWN_ERROR = 1;

/** Exit code with which `exec` and `run` report a failure of their own, not of the command. */
export const EXIT_CODE_OWN_FAILURE = 125;
