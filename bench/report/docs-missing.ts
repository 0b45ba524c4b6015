import { WORKLOADS } from "../workloads/index.ts";
import { goalRowsOf } from "./goals.ts";

/**
 * Returns what docs/performance.md should have and has not: of every workload that a usual run
 * measures, its section and its goals. Figures differ from run to run and cannot be stale so.
 */
export function figuresMissing(document: string): string[] {
  const usual = WORKLOADS.filter(({ rounds }) => rounds.quick > 0);
  const sections = usual.filter(({ name, title }) => {
    const heading = `### ${title.slice(0, 1).toUpperCase()}${title.slice(1)} (\`${name}\`)`;
    return !document.includes(heading);
  });
  const rows = goalRowsOf(new Set(usual.map(({ name }) => name)));
  const rowsMissing = rows.filter((row) => !document.includes(row));
  return [...sections.map(({ name }) => `the workload ${name}`), ...rowsMissing];
}
