/** Errors about several people and agents at one session; part of the registry. */
export const SESSION_ERRORS = {
  TERMINAL_IN_USE: {
    kind: "state",
    exitCode: 11,
    httpStatus: 423,
    retryable: true,
    meaning:
      "Somebody is typing at an attached terminal of the session that would be put back; " +
      "nothing was changed.",
  },
  SESSION_UNRESPONSIVE: {
    kind: "state",
    exitCode: 12,
    httpStatus: 409,
    retryable: false,
    meaning:
      "The session's first process does not answer: it is stopped, traced or frozen, or hangs; " +
      "the session was left as it is.",
  },
} as const;
