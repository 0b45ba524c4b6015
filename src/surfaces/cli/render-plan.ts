import type { PlanOutput } from "../../shared/protocol/index.ts";
import { printable } from "./text/printable.ts";
import { formatSize } from "./text/quantities.ts";
import type { Paint } from "./text/style.ts";

/** What a plan is about, in words. */
export interface PlanWords {
  /** "applied", "taken back". */
  done: string;
  isDryRun: boolean;
  target: string;
}

const MARKS = { delete: "-", mkdir: "+", rights: "~" } as const;

/** Returns the lines of a plan: each path, what is in conflict, and how much it is in all. */
export function renderPlan(
  { steps, totals, conflicts, notes, noteCount }: PlanOutput,
  { done, isDryRun, target }: PlanWords,
  paint: Paint,
): string[] {
  const stepCount = totals.written + totals.deleted + totals.directories + totals.rights;
  const lines = [
    ...steps.filter((step) => gitDirectoryOf(step) === null).map((step) => renderStep(step, paint)),
    ...renderGitDirectories(steps, paint),
  ];
  if (stepCount > steps.length) lines.push(`… and ${stepCount - steps.length} more`);
  for (const { path, why } of conflicts) {
    lines.push(paint("red", `! ${printable(path)}  ${printable(why)}`));
  }
  if (totals.conflicts > conflicts.length) {
    lines.push(`… and ${totals.conflicts - conflicts.length} more in conflict`);
  }
  for (const { path, reason } of notes) {
    lines.push(paint("dim", `  ${printable(path)}: ${printable(reason)}`));
  }
  if (noteCount > notes.length) lines.push(`… and ${noteCount - notes.length} more remarks`);
  return [...lines, summarize(totals, { done, isDryRun, target })];
}

type Step = PlanOutput["steps"][number];

function renderStep(step: Step, paint: Paint): string {
  const mark = step.action === "write" ? (step.isNew ? "+" : "M") : MARKS[step.action];
  const size = step.action === "write" ? paint("dim", `  ${formatSize(step.sizeBytes)}`) : "";
  const how = step.isMerged ? paint("dim", "  (both sides' lines)") : "";
  const kind = step.type === "directory" ? "/" : "";
  return `${mark} ${printable(step.path)}${kind}${size}${how}`;
}

/** Git's own files say nothing one by one: each repository has a line. */
function renderGitDirectories(steps: readonly Step[], paint: Paint): string[] {
  const byDirectory = Map.groupBy(steps, gitDirectoryOf);
  return [...byDirectory].flatMap(([directory, inside]) => {
    if (directory === null) return [];
    const bytes = inside.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const files = inside.filter(({ type }) => type !== "directory").length;
    const facts = paint("dim", `  (git: ${files} ${files === 1 ? "file" : "files"})`);
    return [`M ${printable(directory)}/${paint("dim", `  ${formatSize(bytes)}`)}${facts}`];
  });
}

function gitDirectoryOf({ path }: Step): string | null {
  return /^(.*?(?:^|\/)\.git)\//.exec(path)?.[1] ?? null;
}

function summarize(totals: PlanOutput["totals"], { done, isDryRun, target }: PlanWords): string {
  const parts = [
    count(totals.written, "written"),
    count(totals.deleted, "deleted"),
    count(totals.directories, totals.directories === 1 ? "directory made" : "directories made"),
    count(totals.rights, "with other rights"),
    count(totals.conflicts, "in conflict"),
  ].filter((part) => part !== null);
  const what = parts.length === 0 ? "nothing to do" : parts.join(", ");
  return `${isDryRun ? `Not ${done}, only planned` : capital(done)}, in ${printable(target)}: ${what}.`;
}

function count(number: number, what: string): string | null {
  return number === 0 ? null : `${number} ${what}`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
