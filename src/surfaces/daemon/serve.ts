import { mkdirSync, openSync, writeSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import {
  closeToOthers,
  createLogger,
  type StateLayout,
  startChildrenWith,
} from "../../base/index.ts";
import { hasSessionsLeft, openEngine } from "../../engine/open-engine.ts";
import { readPidsDefault } from "../../linux/host/index.ts";
import { closeInheritedOnExec, startChildByVfork } from "../../linux/kernel/index.ts";
import { autoFromEnvironment } from "./auto-settings.ts";
import { Daemon } from "./daemon.ts";
import { hostNamespacePath, mountRun, releaseNamespace } from "./enter-namespace.ts";
import { pidsFromEnvironment } from "./pids-settings.ts";
import { redactFromEnvironment } from "./redact-settings.ts";
import { standbyFromEnvironment } from "./standby-settings.ts";
import { trackingFromEnvironment } from "./tracking-settings.ts";

/** How Node runs the process that builds stories; a story takes more than this in no usual case. */
const STORY_NODE_FLAGS = ["--max-old-space-size=640", "--max-semi-space-size=4"];
/** Where a daemon works, and whom it tells that it does. */
export interface ServeOptions {
  layout: StateLayout;
  /** The directory of the package. */
  packageRoot: string;
  tellReady: () => void;
}

/** Serves from inside the namespace, engine and socket, until the daemon is told to stop. */
export async function serve({ layout, packageRoot, tellReady }: ServeOptions): Promise<void> {
  closeInheritedOnExec();
  startChildrenWith(startChildByVfork);
  mkdirSync(layout.stateDir, { recursive: true, mode: 0o700 });
  const logFd = openSync(layout.logPath, "a", 0o600);
  const logger = createLogger((line) => writeLog(logFd, line));
  surviveDefects(logger);
  mountRun();
  const engine = await openEngine({
    layout,
    packageRoot,
    limits: limitsFromEnvironment(),
    ...lazyFromEnvironment(),
    ...trackingFromEnvironment(),
    standby: standbyFromEnvironment(process.env, os.totalmem()),
    autoDefault: autoFromEnvironment(process.env),
    pidsDefault: pidsFromEnvironment(process.env, readPidsDefault()),
    redact: redactFromEnvironment(process.env),
    startupFiles: process.env["WAYPOINT_STARTUP_FILES"] === "off" ? "off" : "on",
    storyProgram: [
      process.execPath,
      ...STORY_NODE_FLAGS,
      path.join(packageRoot, "dist", "story.mjs"),
    ],
    hostNamespacePath: hostNamespacePath(),
    logger,
  });
  // What libraries have made, the catalog above all.
  closeToOthers(layout.stateDir, [layout.failedLogsDir]);
  const daemon = new Daemon(engine);
  await daemon.listen();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => void daemon.shutDown());
  }
  tellReady();
  logger.info("daemon ready", { pid: process.pid });
  await daemon.stopped;
  logger.info("daemon stopped");
}

/** A log that cannot be written (the disk is full) must not make an operation fail. */
function writeLog(logFd: number, line: string): void {
  try {
    writeSync(logFd, line);
  } catch {
    // There is nowhere else to say it.
  }
}

function limitsFromEnvironment() {
  const bytesIn = (name: string) => {
    const bytes = Number(process.env[name]);
    return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined;
  };
  const storeBytes = bytesIn("WAYPOINT_STORE_BYTES");
  const imagesBytes = bytesIn("WAYPOINT_IMAGES_BYTES");
  return {
    ...(storeBytes === undefined ? {} : { storeBytes }),
    ...(imagesBytes === undefined ? {} : { imagesBytes }),
  };
}

/** `off`, or the bytes of memory from which a checkpoint is restored lazily; else the default. */
function lazyFromEnvironment(): { lazyBytesMin?: number } {
  const wanted = process.env["WAYPOINT_LAZY_RESTORE"] ?? "auto";
  if (wanted === "off") return { lazyBytesMin: Number.POSITIVE_INFINITY };
  const lazyBytesMin = Number(wanted);
  return Number.isSafeInteger(lazyBytesMin) && lazyBytesMin >= 0 ? { lazyBytesMin } : {};
}

/** One broken operation must not take the others with it; the log keeps what happened. */
function surviveDefects(logger: ReturnType<typeof createLogger>): void {
  process.on("unhandledRejection", (reason) => logger.error("unhandled rejection", reason));
}

/** Lets go of the mounts after a start that failed; sessions of an earlier daemon keep theirs. */
export async function leaveNothing(layout: StateLayout): Promise<void> {
  if (hasSessionsLeft(layout)) return;
  await releaseNamespace(layout).catch((error: unknown) => {
    process.stderr.write(`The mounts of ${layout.stateDir} stay: ${String(error)}\n`);
  });
}
