import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import os from "node:os";
import process from "node:process";
import { createLogger, STATE_DIR_DEFAULT, type StateLayout, stateLayout } from "../base/index.ts";
import * as criu from "../linux/criu/index.ts";
import * as kernel from "../linux/kernel/index.ts";
import * as sandbox from "../linux/sandbox/index.ts";
import * as shells from "../linux/shells/index.ts";
import { openStoreForReading } from "../linux/store/index.ts";
import { findTerminals, ScreenModel, SHELL_FILES } from "../linux/terminal/index.ts";
import * as textTools from "../linux/text-tools/index.ts";
import { SqliteCatalog } from "../portable/catalog/sqlite/index.ts";
import { LiveSessions } from "./live/index.ts";
import type { ReadingEngine, ReadingSettings } from "./moment/index.ts";
import { STORY_BYTES_MAX, STORY_SCRATCH_START, serveStories } from "./story/index.ts";

/**
 * The program of the process that builds stories: the second composition root, of what reading a
 * story needs. It reads what sessions have left, so it is the first to go where memory is short, and
 * the last to be given a processor.
 */
const SCRATCH_ID_BYTES = 6;
const NICENESS = 10;
const FIRST_TO_BE_ENDED = "1000";

function openStoryEngine(layout: StateLayout, settings: ReadingSettings): ReadingEngine {
  return {
    settings: { layout, shellFiles: SHELL_FILES, ...settings },
    catalog: SqliteCatalog.openForReading(layout.catalogPath),
    store: openStoreForReading(layout),
    criu,
    shells,
    textTools,
    fileCalls: kernel,
    sandbox,
    // It compares checkpoints; what lives is the daemon's.
    live: new LiveSessions(),
    findTerminals,
    createScreen: (columns, rows) => new ScreenModel(columns, rows),
    logger: createLogger((line) => process.stderr.write(line)),
    newId: () => `${STORY_SCRATCH_START}${randomBytes(SCRATCH_ID_BYTES).toString("hex")}`,
  };
}

kernel.endWithParent();
os.setPriority(NICENESS);
writeFileSync("/proc/self/oom_score_adj", FIRST_TO_BE_ENDED);
const layout = stateLayout(process.env["WAYPOINT_DIR"] ?? STATE_DIR_DEFAULT);
const engine = openStoryEngine(layout, JSON.parse(process.argv[2] ?? "") as ReadingSettings);
kernel.limitFurtherMemory(STORY_BYTES_MAX);
await serveStories(engine, { input: process.stdin, output: process.stdout });
process.exit(0);
