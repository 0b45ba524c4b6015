/** Errors about taking work over, into the machine's files or another session; part of the registry. */
export const MERGE_ERRORS = {
  APPLY_CONFLICT: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning:
      "What would be replaced is not what the session started from; nothing was written. The detail lists the paths.",
  },
  APPLY_UNFINISHED: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning:
      "An earlier apply or merge was interrupted; it has to be completed or put back before the next one.",
  },
  APPLY_NOT_FOUND: {
    kind: "state",
    exitCode: 10,
    httpStatus: 404,
    retryable: false,
    meaning: "There is no apply to be taken back, completed or put back.",
  },
  LINEAGE_UNRELATED: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning:
      "The session and the checkpoint descend from no common checkpoint, so nothing tells who changed what.",
  },
} as const;
