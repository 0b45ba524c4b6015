import { existsSync } from "node:fs";
import { criuArgv, readCriuRecord } from "../../scripts/setup/criu-record.mjs";
import { WaypointError } from "../errors/index.ts";
import { hasCapability } from "./capabilities.ts";
import { nativePath } from "./native-programs.ts";

/** How to start the CRIU that the set-up chose. */
export interface CriuProgram {
  /** The words to put before CRIU's own arguments. */
  argv: readonly string[];
  /** Variables to add to CRIU's environment. */
  env: Readonly<Record<string, string>>;
  /** What takes CRIU into a network namespace and control groups. */
  enterPath: string;
  version: string;
  origin: "system" | "private";
  /** CRIU answers its question for other users' limits through a preloaded object. */
  needsRlimitPreload: boolean;
}

/** Where to look. */
export interface FindCriuOptions {
  /** The directory that holds Waypoint's package.json and .tools. */
  packageRoot: string;
  /**
   * The built object that stands in for CAP_SYS_RESOURCE; used only where that is missing.
   * @defaultValue the one that the set-up built
   */
  rlimitPreloadPath?: string;
}

/**
 * Returns the CRIU that the set-up chose for this machine; reads two small files, starts nothing.
 *
 * Without CAP_SYS_RESOURCE CRIU cannot read the limits of a process of another user, so the
 * preload reads them from /proc instead. A private CRIU gets it through its own loader, because
 * LD_PRELOAD would also reach the programs that CRIU starts, which use the machine's libraries.
 *
 * @throws SETUP_INCOMPLETE  no CRIU was chosen, it has gone, or the preload is not built.
 */
export async function findCriu(options: FindCriuOptions): Promise<CriuProgram> {
  const record = readCriuRecord(options.packageRoot);
  if (record === null) {
    throw new WaypointError("SETUP_INCOMPLETE", "No CRIU has been set up for Waypoint.", {
      hint: "Run `waypoint setup` as root.",
    });
  }
  const needsRlimitPreload = !hasCapability("CAP_SYS_RESOURCE");
  const preloadPath =
    options.rlimitPreloadPath ?? nativePath(options.packageRoot, "rlimit-preload.so");
  if (needsRlimitPreload && !existsSync(preloadPath)) {
    throw new WaypointError("SETUP_INCOMPLETE", `The preload ${preloadPath} is not built.`, {
      hint: "Run `waypoint setup` as root.",
      detail: { preloadPath },
    });
  }
  const { origin, version } = record;
  const isByVariable = needsRlimitPreload && origin === "system";
  return {
    argv: criuArgv(record, needsRlimitPreload ? { preloadPath } : {}),
    enterPath: nativePath(options.packageRoot, "criu-enter"),
    env: isByVariable ? { LD_PRELOAD: preloadPath } : {},
    version,
    origin,
    needsRlimitPreload,
  };
}
