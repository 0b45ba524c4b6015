import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Summary, summarize } from "../measuring/statistics.ts";

const RESULTS_DIR = path.resolve(import.meta.dirname, "../results");

/** One line of the table. */
export interface Line extends Summary {
  contender: string;
  figure: string;
  values: readonly number[];
}

/** What was measured of one workload. */
export interface WorkloadResult {
  name: string;
  title: string;
  lines: Line[];
  /** Why something is not in `lines`. */
  notMeasured: { contender: string; reason: string }[];
}

/** One run of the bench. */
export interface Results {
  machine: ReturnType<typeof describeMachine>;
  /** What of the bench was asked for: "--full", "--only redis". */
  words: string;
  workloads: WorkloadResult[];
}

/** What was measured on: figures mean nothing without it. */
export function describeMachine() {
  return {
    at: new Date().toISOString(),
    kernel: os.release(),
    cpu: os.cpus()[0]?.model ?? "unknown",
    cores: os.cpus().length,
    memoryGib: Math.round(os.totalmem() / 1024 ** 3),
    loadBefore: os.loadavg()[0] ?? 0,
    loadAfter: 0,
    node: process.version,
  };
}

/** Returns a line with what its values say. */
export function toLine(series: { contender: string; figure: string; values: number[] }): Line {
  return { ...series, ...summarize(series.values) };
}

type Figure = readonly [workload: string, contender: string, figure: string];

/** Returns the median of a figure, or undefined where it was not measured. */
export function median(results: Results, figure: Figure): number | undefined {
  return lineOf(results, figure)?.p50;
}

/** Returns how far a figure's values spread: how many times the median its p95 is. */
export function spread(results: Results, figure: Figure): number | undefined {
  const line = lineOf(results, figure);
  return line === undefined ? undefined : line.p95 / line.p50;
}

function lineOf(results: Results, [workload, contender, figure]: Figure): Line | undefined {
  const found = results.workloads.find(({ name }) => name === workload);
  return found?.lines.find((line) => line.contender === contender && line.figure === figure);
}

/** Writes everything that was measured, and returns the file's path. */
export function writeResults(results: Results): string {
  mkdirSync(RESULTS_DIR, { recursive: true });
  const file = path.join(RESULTS_DIR, `${results.machine.at.replaceAll(":", "-")}.json`);
  writeFileSync(file, `${JSON.stringify(results, null, 1)}\n`);
  return file;
}

/** Reads what {@link writeResults} wrote. */
export function readResults(file: string): Results {
  return JSON.parse(readFileSync(file, "utf8")) as Results;
}
