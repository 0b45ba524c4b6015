/**
 * limits owns the control groups in which sessions with limits live: making and removing them, and
 * how often a session has come up against one.
 * It starts no process: whoever does puts it in first. docs/notes/cgroups has the facts.
 */
export { cgroupMounts } from "./cgroup-mounts.ts";
export { type CgroupHits, type CgroupLimits, LimitsHost } from "./limits-host.ts";
