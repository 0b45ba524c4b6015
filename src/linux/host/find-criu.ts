import { existsSync } from "node:fs";
import { criuArgv, readCriuRecord } from "../../../scripts/setup/criu-record.mjs";
import { WaypointError } from "../../shared/errors/index.ts";
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
}

/** Where to look. */
export interface FindCriuOptions {
  /** The directory that holds Waypoint's package.json and .tools. */
  packageRoot: string;
  /**
   * The built object that is preloaded into CRIU.
   * @defaultValue the one that the set-up built
   */
  preloadPath?: string;
}

/**
 * Returns the CRIU that the set-up chose for this machine; reads two small files, starts nothing.
 *
 * A preload gives the terminal of a session to all its processes at a restore; and without
 * CAP_SYS_RESOURCE, when CRIU cannot read the limits of a process of another user, it reads them from
 * /proc. A private CRIU gets it through its own loader, because LD_PRELOAD would also reach the
 * programs that CRIU starts, which use the machine's libraries.
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
  const preloadPath = options.preloadPath ?? nativePath(options.packageRoot, "criu-preload.so");
  if (!existsSync(preloadPath)) {
    throw new WaypointError("SETUP_INCOMPLETE", `The preload ${preloadPath} is not built.`, {
      hint: "Run `waypoint setup` as root.",
      detail: { preloadPath },
    });
  }
  const { origin, version } = record;
  return {
    argv: criuArgv(record, { preloadPath }),
    enterPath: nativePath(options.packageRoot, "criu-enter"),
    env: origin === "system" ? { LD_PRELOAD: preloadPath } : {},
    version,
    origin,
  };
}
