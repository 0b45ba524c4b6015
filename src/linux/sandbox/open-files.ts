import { readdirSync, readlinkSync } from "node:fs";
import { listProcesses } from "./process-tree.ts";

/** A process of a session, and the paths of what it has open or mapped. */
export interface OpenFiles {
  /** Process id inside the session. */
  pid: number;
  command: string;
  /** As the session sees them, one character for each byte; what was deleted is left out. */
  paths: ReadonlySet<string>;
}

/** Returns what the processes of a session have open and mapped now, from the host's /proc. */
export function listOpenFiles(initHostPid: number): OpenFiles[] {
  return listProcesses(initHostPid).map(({ hostPid, pid, command }) => ({
    pid,
    command,
    paths: new Set(["fd", "map_files"].flatMap((kind) => targetsOf(`/proc/${hostPid}/${kind}`))),
  }));
}

function targetsOf(directory: string): string[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    // The process has ended meanwhile.
    return [];
  }
  return names.flatMap((name) => {
    try {
      const target = readlinkSync(`${directory}/${name}`, "latin1");
      return target.startsWith("/") ? [target] : [];
    } catch {
      return [];
    }
  });
}
