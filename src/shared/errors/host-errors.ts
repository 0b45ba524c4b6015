/** Errors about the machine and what of it is left; part of the registry. */
export const HOST_ERRORS = {
  HOST_UNSUPPORTED: {
    kind: "host",
    exitCode: 20,
    httpStatus: 501,
    retryable: false,
    meaning: "The machine lacks something that Waypoint needs and setup cannot bring.",
  },
  PRIVILEGE_MISSING: {
    kind: "host",
    exitCode: 20,
    httpStatus: 403,
    retryable: false,
    meaning: "The operation needs root or a capability that the process does not have.",
  },
  SETUP_INCOMPLETE: {
    kind: "host",
    exitCode: 20,
    httpStatus: 501,
    retryable: false,
    meaning: "Something that `waypoint setup` brings is not there.",
  },
  SETUP_FAILED: {
    kind: "host",
    exitCode: 20,
    httpStatus: 500,
    retryable: true,
    meaning: "Setup could not fetch, build or install something.",
  },
  PROCESSES_FULL: {
    kind: "host",
    exitCode: 20,
    httpStatus: 503,
    retryable: true,
    meaning:
      "No further process can be started: the machine's table or the daemon's limit is full.",
  },
  MEMORY_SHORT: {
    kind: "host",
    exitCode: 20,
    httpStatus: 503,
    retryable: true,
    meaning: "The machine has too little memory left for what was asked.",
  },
  STORE_FULL: {
    kind: "host",
    exitCode: 20,
    httpStatus: 507,
    retryable: true,
    meaning: "The store or the memory budget for images has no room left.",
  },
  STATE_DIR_BUSY: {
    kind: "host",
    exitCode: 20,
    httpStatus: 409,
    retryable: false,
    meaning: "Another daemon uses the state directory.",
  },
} as const;
