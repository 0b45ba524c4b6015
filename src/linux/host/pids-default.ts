import { readFileSync } from "node:fs";
import path from "node:path";
import { type CgroupMounts, readCgroupMounts } from "../../base/index.ts";

/** A bomb in one session leaves the machine, and the other sessions, seven eighths. */
const SHARE = 1 / 8;
/** On a large machine nothing that people run comes near it, and a bomb is still put down soon. */
const PIDS_MOST = 16_384;
/** On a small one a build and a browser still fit. */
const PIDS_LEAST = 512;

/** Returns how many processes and threads a session may have that says nothing else. */
export function readPidsDefault(): number {
  const kernelMax = ["pid_max", "threads-max"].map((name) =>
    Number(readOr(`/proc/sys/kernel/${name}`, "")),
  );
  return pidsDefault([...kernelMax, ...ownGroupMaxima(readCgroupMounts())]);
}

/** Returns the default where the machine allows so many processes in all; NaN says nothing. */
export function pidsDefault(maxima: readonly number[]): number {
  const most = Math.min(...maxima.filter((max) => max > 0));
  return Math.max(PIDS_LEAST, Math.min(PIDS_MOST, Math.floor(most * SHARE)));
}

/** What the groups of this process allow, from its own up to the root. */
function ownGroupMaxima({ version, directories }: CgroupMounts): number[] {
  if (directories.pids === undefined) return [];
  const line = version === 2 ? /^0::(.*)$/m : /^\d+:(?:\S+,)?pids[,:](.*)$/m;
  const [, own = "/"] = line.exec(readOr("/proc/self/cgroup", "")) ?? [];
  const maxima: number[] = [];
  for (let group = own; group !== "/" && group !== "."; group = path.dirname(group)) {
    maxima.push(Number(readOr(path.join(directories.pids, group, "pids.max"), "")));
  }
  return maxima;
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return otherwise;
  }
}
