import { readlinkSync } from "node:fs";
import { listPids, readStat } from "./process-tree.ts";

/** What is cheap to see of a session's processes. */
export interface TreeFingerprint {
  /** Which processes there are, and the directory that each is in. */
  processes: string;
  /** Time for which they have run, those that have ended too, in clock ticks. */
  ranTicks: number;
}

/** Looks at a session's processes; those that end meanwhile are left out. */
export function treeFingerprint(initHostPid: number): TreeFingerprint {
  const processes: string[] = [];
  let ranTicks = 0;
  for (const hostPid of listPids(initHostPid)) {
    const fields = readStat(hostPid);
    if (fields === null) continue;
    // Of itself and of the children that it has collected, in user mode and in the kernel.
    ranTicks += fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
    if (fields[0] !== "Z") processes.push(`${hostPid} ${fields[19]} ${directoryOf(hostPid)}`);
  }
  return { processes: processes.sort().join("\n"), ranTicks };
}

function directoryOf(hostPid: number): string {
  try {
    return readlinkSync(`/proc/${hostPid}/cwd`);
  } catch {
    return "";
  }
}
