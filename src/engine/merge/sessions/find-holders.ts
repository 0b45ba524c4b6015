import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { RawPath } from "../../../base/index.ts";
import { fromText, toText } from "../../../base/index.ts";

/** More are not named. */
const HOLDERS_MAX = 100;

/** A process that has a file open. */
export interface Holder {
  pid: number;
  command: string;
  path: string;
}

/**
 * Returns which processes have one of these paths open: they go on with the file as it is now.
 *
 * @param paths  absolute, as the session sees them.
 */
export function findHolders(
  processes: readonly { hostPid: number; pid: number; command: string }[],
  paths: ReadonlySet<RawPath>,
): Holder[] {
  const holders: Holder[] = [];
  for (const { hostPid, pid, command } of processes) {
    for (const path of openPaths(hostPid)) {
      if (!paths.has(path)) continue;
      holders.push({ pid, command, path: toText(path) });
      if (holders.length >= HOLDERS_MAX) return holders;
    }
  }
  return holders;
}

/** What it has open or mapped, its own program too. Nothing of one that has ended. */
function openPaths(hostPid: number): Set<RawPath> {
  const directory = `/proc/${hostPid}`;
  const links = [
    `${directory}/exe`,
    ...list(`${directory}/fd`).map((fd) => `${directory}/fd/${fd}`),
  ];
  return new Set([...links.map(read), ...mapped(directory)].filter((path) => path.startsWith("/")));
}

function mapped(directory: string): RawPath[] {
  try {
    const lines = readFileSync(`${directory}/maps`, "latin1").split("\n");
    return lines.map((line) => line.slice(Math.max(0, line.indexOf("/"))));
  } catch {
    return [];
  }
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function read(link: string): RawPath {
  try {
    return fromText(readlinkSync(link));
  } catch {
    return "";
  }
}
