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
} as const;
