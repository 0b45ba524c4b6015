import { closeSync, writeSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { STATE_DIR_DEFAULT, stateLayout } from "../../base/index.ts";
import { nativePath, requireHost } from "../../linux/host/index.ts";
import { toWaypointError } from "../../shared/errors/index.ts";
import { enterNamespace, isInsideNamespace } from "./enter-namespace.ts";

/** Descriptor on which whoever started the daemon learns that it is ready, or why not. */
const READY_FD = 3;

const layout = stateLayout(process.env["WAYPOINT_DIR"] ?? STATE_DIR_DEFAULT);
const packageRoot = path.resolve(fileURLToPath(import.meta.url), "..", "..");

/** The program is started twice, outside and inside its namespace; all of it is needed only there. */
const loadServe = () => import("./serve.ts");

/** Starts the daemon: namespace, engine, socket; then serves until it is told to stop. */
async function main(): Promise<void> {
  if (!isInsideNamespace()) {
    const preloadPath = nativePath(packageRoot, "criu-preload.so");
    await requireHost({ packageRoot, preloadPath });
    await enterNamespace(layout, READY_FD);
  }
  const { serve } = await loadServe();
  await serve({ layout, packageRoot, tellReady: () => tellStarter({ ready: true }) });
}

function tellStarter(message: object): void {
  try {
    writeSync(READY_FD, `${JSON.stringify(message)}\n`);
    closeSync(READY_FD);
  } catch {
    // Started by hand: nobody listens there.
  }
}

/** Not awaited at the top: what is loaded late relies on what this file has loaded. */
async function run(): Promise<never> {
  try {
    await main();
    process.exit(0);
  } catch (thrown) {
    const error = toWaypointError(thrown);
    if (isInsideNamespace()) await (await loadServe()).leaveNothing(layout);
    tellStarter({ error: error.toJSON() });
    const hint = error.hint === null ? "" : `Hint: ${error.hint}\n`;
    process.stderr.write(`Error: ${error.message}\n${hint}`);
    process.exit(20);
  }
}

void run();
