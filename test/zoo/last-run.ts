import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { CourseResult } from "./course.ts";

/** What the last run of a program on this machine found; a row of docs/compatibility.md. */
export interface ZooRow extends CourseResult {
  program: string;
  /** Day on which the course was run, and on what. */
  day: string;
  kernel: string;
  criu: string;
  debian: string;
}

const FILE = fileURLToPath(new URL("../../.tools/zoo.json", import.meta.url));

/** Returns the rows that lie on this machine, or null if the zoo never ran on it. */
export function readLastRun(): ZooRow[] | null {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, "utf8")) as ZooRow[]) : null;
}

/** Writes the rows of the programs that were `tried`; the rows of others stay as they are. */
export function writeLastRun(rows: readonly ZooRow[], tried: ReadonlySet<string>): void {
  const others = (readLastRun() ?? []).filter(({ program }) => !tried.has(program));
  mkdirSync(path.dirname(FILE), { recursive: true });
  writeFileSync(FILE, `${JSON.stringify([...others, ...rows], null, 2)}\n`);
}
