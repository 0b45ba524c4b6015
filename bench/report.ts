import { mkdirSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { summarize } from "./statistics.ts";

const RESULTS_DIR = path.join(import.meta.dirname, "results");

/** The lines of the table: key, what it is, and the goal for its median where there is one. */
const LINES: readonly { key: string; what: string; goalMs?: number }[] = [
  { key: "pause-inside", what: "checkpoint: pause seen from inside", goalMs: 15 },
  { key: "pause-criu", what: "checkpoint: pause by CRIU's clock" },
  { key: "checkpoint", what: "checkpoint: call to answer" },
  { key: "bare-pause-inside", what: "  floor: bare criu dump, pause from inside" },
  { key: "bare", what: "  floor: bare criu dump, start to end" },
  { key: "restore-alone", what: "restore to first answered command", goalMs: 60 },
  { key: "restore", what: "  with the checkpoint taken first" },
  { key: "undo", what: "undo to first answered command, likewise" },
  { key: "fork", what: "fork to first answered command", goalMs: 60 },
  { key: "fork-many", what: "8 forks, all answered" },
  { key: "new", what: "new session to first answered command" },
  { key: "sdk-exec", what: "exec true: SDK" },
  { key: "cli-exec", what: "exec true: command line" },
  { key: "sdk-ls", what: "ls: SDK" },
  { key: "cli-ls", what: "ls: command line" },
  { key: "cli-node", what: "  floor: node -e 0" },
];

/** What was measured on: figures mean nothing without it. */
export function describeMachine() {
  return {
    at: new Date().toISOString(),
    kernel: os.release(),
    cpu: os.cpus()[0]?.model ?? "unknown",
    cores: os.cpus().length,
    memoryGib: Math.round(os.totalmem() / 1024 ** 3),
    loadBefore: os.loadavg()[0] ?? 0,
    node: process.version,
  };
}

/** Prints the table; returns false when a goal was missed. */
export function printTable(values: ReadonlyMap<string, readonly number[]>): boolean {
  const widest = Math.max(...LINES.map(({ what }) => what.length));
  const cell = (text: string) => text.padStart(8);
  console.log(
    `\n${"milliseconds".padEnd(widest)}${["min", "p50", "p95", "max", "goal"].map(cell).join("")}`,
  );
  let isReached = true;
  for (const { key, what, goalMs } of LINES) {
    const { min, p50, p95, max } = summarize(values.get(key) ?? []);
    const isMissed = goalMs !== undefined && p50 > goalMs;
    if (isMissed) isReached = false;
    const goal = goalMs === undefined ? "" : `≤ ${goalMs}`;
    const cells = [...[min, p50, p95, max].map((value) => value.toFixed(1)), goal].map(cell);
    console.log(`${what.padEnd(widest)}${cells.join("")}${isMissed ? "  missed" : ""}`);
  }
  return isReached;
}

/** Writes everything that was measured, and returns the file's path. */
export function writeResults(
  machine: ReturnType<typeof describeMachine>,
  values: ReadonlyMap<string, readonly number[]>,
): string {
  mkdirSync(RESULTS_DIR, { recursive: true });
  const file = path.join(RESULTS_DIR, `${machine.at.replaceAll(":", "-")}.json`);
  const lines = LINES.map(({ key, what, goalMs }) => {
    const series = values.get(key) ?? [];
    return { key, what, goalMs: goalMs ?? null, ...summarize(series), values: series };
  });
  writeFileSync(file, `${JSON.stringify({ machine, lines }, null, 2)}\n`);
  return file;
}
