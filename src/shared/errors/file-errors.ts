/** Errors about files of moments and what is done with them; part of the registry. */
export const FILE_ERRORS = {
  FILE_NOT_FOUND: {
    kind: "state",
    exitCode: 10,
    httpStatus: 404,
    retryable: false,
    meaning: "At that moment there is nothing at the path, or a link on the way leads to nothing.",
  },
  FILE_REFUSED: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning: "What is at the path cannot be read or replaced as asked: it is of another kind.",
  },
  FILE_FAILED: {
    kind: "tool",
    exitCode: 21,
    httpStatus: 500,
    retryable: false,
    meaning: "The kernel refused to read or write a file; the detail has its reason.",
  },
  CHECKPOINT_IN_USE: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning:
      "The checkpoint is browsed, or something needs it, and it cannot be removed meanwhile.",
  },
} as const;
