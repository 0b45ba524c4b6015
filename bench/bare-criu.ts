import { execFile } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { stateLayout } from "../src/base/index.ts";
import { buildDumpArguments } from "../src/criu/index.ts";
import { nativePaths } from "../src/engine.ts";
import { findCriu } from "../src/host/index.ts";

const run = promisify(execFile);
const PACKAGE_ROOT = path.resolve(import.meta.dirname, "..");

/** A session whose daemon has ended, so that CRIU can be run on it by hand. */
export interface BareTarget {
  stateDir: string;
  instanceId: string;
  pid: number;
}

/**
 * Returns a function that runs `criu dump --leave-running` on a session without Waypoint: the same
 * options, the same tmpfs, in the same namespaces, but no snapshot, no daemon and no records.
 */
export async function prepareBareDump(target: BareTarget): Promise<() => Promise<void>> {
  const { rlimitPreloadPath } = nativePaths(PACKAGE_ROOT);
  const criu = await findCriu({ packageRoot: PACKAGE_ROOT, rlimitPreloadPath });
  const layout = stateLayout(target.stateDir);
  const workDir = path.join(layout.stateDir, "bench");
  mkdirSync(workDir, { recursive: true });
  const netnsPath = `/run/netns/waypoint-${layout.key}-${target.instanceId}`;
  const imagesDir = path.join(layout.imagesDir, "bench");
  const dumpArguments = buildDumpArguments({
    pid: target.pid,
    rootDir: `/run/waypoint/roots/${target.instanceId}`,
    imagesDir,
    workDir,
    logName: "dump.log",
    snapshotHookPath: "",
  });
  const hookAt = dumpArguments.indexOf("--action-script");
  dumpArguments.splice(hookAt, 2);
  const inDaemon = [`--mount=${layout.namespacePath}`, "--"];
  await run("nsenter", [...inDaemon, "mkdir", imagesDir]);
  // The file of the network namespace can be seen from inside the mount namespace only.
  const inBoth = [...inDaemon, "nsenter", `--net=${netnsPath}`, "--"];
  const command = [...inBoth, ...criu.argv, ...dumpArguments];
  return async () => {
    // Each dump overwrites the images of the last one.
    await run("nsenter", command, { env: { ...process.env, ...criu.env } });
  };
}

/** Removes what the dumps by hand have left outside the daemon's namespace. */
export function removeBareDumps(stateDir: string): void {
  rmSync(path.join(stateDir, "bench"), { recursive: true, force: true });
}
