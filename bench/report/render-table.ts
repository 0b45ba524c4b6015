import type { GoalOutcome } from "./goals.ts";
import type { Results, WorkloadResult } from "./results.ts";

const COLUMNS = ["min", "p50", "p95", "n"];

/** Returns the tables for a terminal. */
export function renderText(results: Results, goals: readonly GoalOutcome[]): string {
  return [
    ...results.workloads.flatMap((workload) => ["", ...workloadText(workload)]),
    "",
    ...goalsText(goals),
  ].join("\n");
}

function workloadText({ title, lines, notMeasured }: WorkloadResult): string[] {
  const label = (contender: string, figure: string) => `  ${contender.padEnd(20)} ${figure}`;
  const widest = 64;
  const cells = (words: string[]) => words.map((word) => word.padStart(9)).join("");
  return [
    `${`${title}, milliseconds`.padEnd(widest)}${cells(COLUMNS)}`,
    ...lines.map(({ contender, figure, min, p50, p95, count }) => {
      const values = [min, p50, p95].map(formatMs);
      return `${label(contender, figure).padEnd(widest)}${cells([...values, String(count)])}`;
    }),
    ...notMeasured.map(({ contender, reason }) => `${label(contender, "not measured:")} ${reason}`),
  ];
}

function goalsText(goals: readonly GoalOutcome[]): string[] {
  if (goals.length === 0) return [];
  return [
    `${"goals, for medians".padEnd(48)}${"goal".padStart(10)}${"measured".padStart(14)}`,
    ...goals.map(({ what, goal, measured, isMet }) => {
      const verdict = isMet === null ? "" : isMet ? "met" : "missed";
      const cells = `${goal.padStart(10)}${(measured ?? "not measured").padStart(14)}`;
      return `  ${what.padEnd(46)}${cells}  ${verdict}`.trimEnd();
    }),
  ];
}

/** Three digits are more than a figure is worth where it is large. */
export function formatMs(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString("en-US") : value.toFixed(1);
}
