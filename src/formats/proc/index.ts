/**
 * proc owns how the kernel writes what it tells in /proc: mounts, fields of a process, memory.
 */

export { ownGroupPath } from "./cgroup.ts";
export { memoryField } from "./meminfo.ts";
export { type MountEntry, parseMountInfo } from "./mountinfo.ts";
export { memoryStallShare } from "./pressure.ts";
export { type CountedProtocol, countsSockets } from "./socket-counts.ts";
export { innerPidOf, parseChildren, statusField } from "./status.ts";
