/**
 * limits owns the control groups in which sessions live: those with their limits, how often a
 * session has come up against one, and those in which an instance can be frozen.
 * It starts no process: whoever does puts it in first. docs/notes/cgroups has the facts.
 */
export { Freezer } from "./freezer.ts";
export { type CgroupHits, type CgroupLimits, LimitsHost } from "./limits-host.ts";
