import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type GoalOutcome, judgeGoals } from "./goals.ts";
import { formatMs } from "./render-table.ts";
import type { Results, WorkloadResult } from "./results.ts";

const DOCUMENT = path.resolve(import.meta.dirname, "../../docs/performance.md");
/** What lies between these lines of the document is written here and nowhere else. */
const BEGIN = "<!-- figures: written by `npm run bench -- --write-docs`, not by hand -->";
const END = "<!-- end of the figures -->";

/** Writes the figures of a run into docs/performance.md. */
export function writeDocs(results: Results): void {
  const text = readFileSync(DOCUMENT, "utf8");
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${DOCUMENT} has no place for the figures`);
  const figures = [renderMarkdown(results), ""].join("\n");
  writeFileSync(DOCUMENT, `${text.slice(0, begin + BEGIN.length)}\n${figures}${text.slice(end)}`);
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
    ...goals.map(({ what, goal, measured, isMet }) => {
      const verdict = isMet === null ? "" : isMet ? "met" : "**missed**";
      return `| ${what} | ${goal} | ${measured ?? "not measured"} | ${verdict} |`;
    }),
    "",
  ];
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
