/** Errors about going back to a checkpoint, and taking that back; part of the registry. */
export const RESTORE_ERRORS = {
  CHECKPOINT_OF_OTHER_SESSION: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning: "A session can be restored only to checkpoints of its own lineage.",
  },
  NOTHING_TO_UNDO: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning: "The session has no such operation, or none that could be taken back.",
  },
  PART_NOT_CAPTURED: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning: "The checkpoint does not hold the part that was to be put back.",
  },
} as const;
