/** Errors about looking for the first bad checkpoint; part of the registry. */
export const BISECT_ERRORS = {
  CHECKPOINT_NOT_ANCESTOR: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning: "One checkpoint does not descend from the other, so there is no way between them.",
  },
  BISECT_GOOD_FAILS: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning: "The command of a bisect fails at the checkpoint that was called good.",
  },
  BISECT_BAD_PASSES: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning: "The command of a bisect passes at the checkpoint that was called bad.",
  },
  BISECT_STOPPED: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning: "The command of a bisect ended in a way that says neither good nor bad.",
  },
} as const;
