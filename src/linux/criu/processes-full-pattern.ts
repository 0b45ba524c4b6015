import type { FailurePattern } from "./explain-failure.ts";

/** CRIU, or what it starts, could start no process. */
export const PROCESSES_FULL_PATTERN: FailurePattern = {
  reason: "processes_full",
  code: "PROCESSES_FULL",
  pattern: /(?:fork|clone|thread|task)\b[^\n]*: Resource temporarily unavailable|Cannot fork/i,
  resource: () => null,
  sentence: () => "No further process can be started on this machine.",
  hint: "End some processes, or raise the limit of the daemon (its control group's pids.max, or kernel.pid_max), then try again.",
};
