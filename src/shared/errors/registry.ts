import { BISECT_ERRORS } from "./bisect-errors.ts";
import { FILE_ERRORS } from "./file-errors.ts";
import { HOST_ERRORS } from "./host-errors.ts";
import { MERGE_ERRORS } from "./merge-errors.ts";
import { RESTORE_ERRORS } from "./restore-errors.ts";
import { SESSION_ERRORS } from "./session-errors.ts";

/**
 * Every error code of Waypoint, one row each.
 *
 * A code is public: it is never reused and never changes its meaning. The exit code and the HTTP
 * status follow from the kind of failure, that is from who has to act. docs/errors.md prints the
 * meanings.
 */
export const ERROR_REGISTRY = {
  USAGE_INVALID: {
    kind: "usage",
    exitCode: 2,
    httpStatus: 400,
    retryable: false,
    meaning: "A command line, an option or an argument is not understood.",
  },
  NAME_INVALID: {
    kind: "usage",
    exitCode: 2,
    httpStatus: 400,
    retryable: false,
    meaning: "A name has characters or a length that names cannot have.",
  },
  BASE_INVALID: {
    kind: "usage",
    exitCode: 2,
    httpStatus: 400,
    retryable: false,
    meaning: "The directory given as base is not a root filesystem that a session can use.",
  },
  BIND_INVALID: {
    kind: "usage",
    exitCode: 2,
    httpStatus: 400,
    retryable: false,
    meaning: "A directory of the host cannot be bound into a session as asked.",
  },

  SESSION_NOT_FOUND: {
    kind: "state",
    exitCode: 10,
    httpStatus: 404,
    retryable: false,
    meaning: "No session has that name or id.",
  },
  CHECKPOINT_NOT_FOUND: {
    kind: "state",
    exitCode: 10,
    httpStatus: 404,
    retryable: false,
    meaning: "No checkpoint has that name, id or place in the timeline.",
  },
  REFERENCE_AMBIGUOUS: {
    kind: "state",
    exitCode: 10,
    httpStatus: 409,
    retryable: false,
    meaning: "The prefix given fits several sessions or checkpoints.",
  },
  NAME_IN_USE: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning: "Another session or checkpoint already has that name.",
  },
  PORT_IN_USE: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning: "The port of this machine is taken, or the session's port is forwarded already.",
  },
  FORWARD_REFUSED: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning: "The session's ports cannot be forwarded, because they are the host's own.",
  },
  FORWARD_NOT_FOUND: {
    kind: "state",
    exitCode: 10,
    httpStatus: 404,
    retryable: false,
    meaning: "That port of the session is not forwarded.",
  },
  SESSION_WRONG_STATE: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning: "The session's state does not allow the operation.",
  },
  SESSION_ENDED: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning: "The session's processes ended before or during the operation.",
  },
  ...RESTORE_ERRORS,

  FORK_REFUSED: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning: "The checkpoint cannot be forked as asked.",
  },
  BIND_SOURCE_MISSING: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning: "A directory of the host that the checkpoint's session had bound is gone.",
  },

  ...BISECT_ERRORS,
  ...FILE_ERRORS,
  ...SESSION_ERRORS,
  ...MERGE_ERRORS,

  ...HOST_ERRORS,

  DAEMON_UNREACHABLE: {
    kind: "host",
    exitCode: 20,
    httpStatus: 503,
    retryable: true,
    meaning: "The daemon does not answer, could not be started, or went away.",
  },
  DAEMON_VERSION_MISMATCH: {
    kind: "host",
    exitCode: 20,
    httpStatus: 409,
    retryable: false,
    meaning: "Client and daemon are of different versions of Waypoint.",
  },

  CRIU_DUMP_FAILED: {
    kind: "tool",
    exitCode: 21,
    httpStatus: 500,
    retryable: false,
    meaning: "CRIU could not capture the processes; the session runs on as before.",
  },
  CRIU_RESTORE_FAILED: {
    kind: "tool",
    exitCode: 22,
    httpStatus: 500,
    retryable: false,
    meaning: "CRIU could not bring the processes back; the session is as before.",
  },
  SANDBOX_FAILED: {
    kind: "tool",
    exitCode: 21,
    httpStatus: 500,
    retryable: false,
    meaning: "Namespaces, mounts, network or init of a session could not be made.",
  },
  STORE_FAILED: {
    kind: "tool",
    exitCode: 21,
    httpStatus: 500,
    retryable: false,
    meaning: "The store could not make, read or delete a subvolume, snapshot or image.",
  },
  TOOL_FAILED: {
    kind: "tool",
    exitCode: 21,
    httpStatus: 500,
    retryable: false,
    meaning: "A program that Waypoint started failed; the detail has what it said.",
  },

  CHECKPOINT_INCOMPLETE: {
    kind: "data",
    exitCode: 23,
    httpStatus: 500,
    retryable: false,
    meaning: "Files of the checkpoint are missing or damaged; it cannot be used.",
  },
  FORMAT_TOO_NEW: {
    kind: "data",
    exitCode: 23,
    httpStatus: 500,
    retryable: false,
    meaning: "A newer version of Waypoint wrote this; the present one must not touch it.",
  },

  DEADLINE_EXCEEDED: {
    kind: "state",
    exitCode: 11,
    httpStatus: 504,
    retryable: true,
    meaning: "Something did not happen in the time allowed for it.",
  },
  CANCELLED: {
    kind: "cancelled",
    exitCode: 130,
    httpStatus: 499,
    retryable: true,
    meaning:
      "The caller interrupted the operation, and the message tells what became of it: undone; for " +
      "a copy, whole where it was done; or being undone or completed where the daemon has not " +
      "answered yet.",
  },
  INTERNAL: {
    kind: "internal",
    exitCode: 70,
    httpStatus: 500,
    retryable: false,
    meaning: "A defect of Waypoint; the daemon's log has the details.",
  },
} as const satisfies Record<string, ErrorRow>;

/** Who has to act on a failure. */
export type ErrorKind = "usage" | "state" | "host" | "tool" | "data" | "cancelled" | "internal";

/** What is derived from an error code. */
export interface ErrorRow {
  kind: ErrorKind;
  exitCode: number;
  httpStatus: number;
  /** Whether the same request may succeed later without anyone changing anything. */
  retryable: boolean;
  /** What happened, as one sentence for docs/errors.md. */
  meaning: string;
}

/** A code of the registry. */
export type ErrorCode = keyof typeof ERROR_REGISTRY;

/** Exit code for an error code that this client does not know (a newer daemon). */
export const EXIT_CODE_UNKNOWN_ERROR = 1;

/** Exit code with which `exec` and `run` report a failure of their own, not of the command. */
export const EXIT_CODE_OWN_FAILURE = 125;
