import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { WORKLOADS } from "../workloads/index.ts";
import { type GoalOutcome, judgeGoals } from "./goals.ts";
import { formatMs } from "./render-table.ts";
import type { Results, WorkloadResult } from "./results.ts";

const DOCUMENT = path.resolve(import.meta.dirname, "../../docs/performance.md");
/** What lies between these lines of the document is written here and nowhere else. */
const BEGIN = "<!-- figures: written by `npm run bench -- --write-docs`, not by hand -->";
const END = "<!-- end of the figures -->";

/**
 * Writes the figures of a run into docs/performance.md: all anew where it had all usual workloads, else
 * those that it had, in their places.
 */
export function writeDocs(results: Results): void {
  writeFileSync(DOCUMENT, withFigures(readFileSync(DOCUMENT, "utf8"), results));
}

/** Returns the document with the figures of a run. @throws Error  it has no place for them. */
export function withFigures(document: string, results: Results): string {
  const [begin, end] = [document.indexOf(BEGIN) + BEGIN.length, document.indexOf(END)];
  if (begin < BEGIN.length || end < begin)
    throw new Error("The document has no place for figures.");
  const names = new Set(results.workloads.map(({ name }) => name));
  const isWhole = WORKLOADS.every(({ name, rounds }) => rounds.quick === 0 || names.has(name));
  const figures = isWhole
    ? `\n${renderMarkdown(results)}\n`
    : withParts(document.slice(begin, end), results);
  return `${document.slice(0, begin)}${figures}${document.slice(end)}`;
}

function withParts(figures: string, results: Results): string {
  const [head = "", ...sections] = figures.split(/^(?=### )/m);
  const told = `This section and its goals: ${toldOf(results)}.\n\n`;
  for (const workload of results.workloads) {
    const section = `${workloadMarkdown(workload).join("\n")}\n${told}`;
    const at = sections.findIndex((each) => each.includes(`(\`${workload.name}\`)\n`));
    if (at < 0) sections.push(section);
    else sections[at] = section;
  }
  return [withGoals(head, judgeGoals(results)), ...sections].join("");
}

function withGoals(head: string, goals: readonly GoalOutcome[]): string {
  const lines = head.trimEnd().split("\n");
  for (const goal of goals) {
    const at = lines.findIndex((line) => line.startsWith(`| ${goal.what} | `));
    lines.splice(at < 0 ? lines.length : at, at < 0 ? 0 : 1, goalRow(goal));
  }
  return `${lines.join("\n")}\n\n`;
}

function toldOf({ machine, words }: Results): string {
  const load = `load ${machine.loadBefore.toFixed(1)} before and ${machine.loadAfter.toFixed(1)} after`;
  const on = `${machine.cores} cores (${machine.cpu})`;
  return `${machine.at.slice(0, 10)}, \`npm run bench -- ${words}\`, ${on}, ${load}`;
}

function renderMarkdown(results: Results): string {
  const { machine } = results;
  const load = `load ${machine.loadBefore.toFixed(1)} before and ${machine.loadAfter.toFixed(1)} after`;
  return [
    "",
    `${machine.at.slice(0, 10)}, \`npm run bench${results.words === "" ? "" : ` -- ${results.words}`}\`:`,
    `${machine.cores} cores (${machine.cpu}), ${machine.memoryGib} GiB, Linux ${machine.kernel.split("-")[0]},`,
    `Node ${machine.node}, ${load}. Milliseconds.`,
    "",
    ...goalsMarkdown(judgeGoals(results)),
    ...results.workloads.flatMap(workloadMarkdown),
  ].join("\n");
}

function goalsMarkdown(goals: readonly GoalOutcome[]): string[] {
  return [
    "| Goal, for the median | to reach | measured | |",
    "| --- | --- | --- | --- |",
    ...goals.map(goalRow),
    "",
  ];
}

function goalRow({ what, goal, measured, isMet }: GoalOutcome): string {
  const verdict = isMet === null ? "" : isMet ? "met" : "**missed**";
  return `| ${what} | ${goal} | ${measured ?? "not measured"} | ${verdict} |`;
}

function workloadMarkdown({ name, title, lines, notMeasured }: WorkloadResult): string[] {
  return [
    `### ${title.slice(0, 1).toUpperCase()}${title.slice(1)} (\`${name}\`)`,
    "",
    ...(lines.length === 0 ? [] : linesMarkdown(lines)),
    ...notMeasured.map(({ contender, reason }) => `Not measured: ${contender}, ${reason}.\n`),
  ];
}

function linesMarkdown(lines: WorkloadResult["lines"]): string[] {
  return [
    "| | | min | p50 | p95 | n |",
    "| --- | --- | --- | --- | --- | --- |",
    ...lines.map(({ contender, figure, min, p50, p95, count }) => {
      const values = [min, p50, p95].map(formatMs).join(" | ");
      return `| ${contender} | ${figure} | ${values} | ${count} |`;
    }),
    "",
  ];
}
