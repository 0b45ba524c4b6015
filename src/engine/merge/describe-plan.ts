import { toBase64, toText } from "../../base/index.ts";
import type { PlanOutput } from "../../shared/protocol/index.ts";
import type { Plan, Step } from "./plan.ts";

/** What one answer lists at most; the totals count beyond it. */
const STEPS_MAX = 1000;
const CONFLICTS_MAX = 100;
const NOTES_MAX = 100;

/** Returns a plan as the outside sees it, bounded, with totals of all. */
export function describePlan(
  { steps, conflicts, notes, sameCount }: Pick<Plan, "steps" | "conflicts" | "notes" | "sameCount">,
  leftOut: readonly { path: string; reason: string }[] = [],
): PlanOutput {
  const told = [
    ...notes.map(({ path, reason }) => ({ path: `/${toText(path)}`, reason })),
    ...leftOut,
  ];
  const count = (kind: Step["kind"]) => steps.filter((step) => step.kind === kind).length;
  return {
    steps: steps.slice(0, STEPS_MAX).map(describeStep),
    totals: {
      ...{ written: count("write"), deleted: count("delete"), directories: count("mkdir") },
      ...{ rights: count("attributes"), same: sameCount, conflicts: conflicts.length },
    },
    conflicts: conflicts.slice(0, CONFLICTS_MAX).map(({ path, kind, why }) => ({
      ...{ ...pathOf(path), kind, why },
    })),
    notes: told.slice(0, NOTES_MAX),
    noteCount: told.length,
  };
}

function describeStep({ path, kind, before, after, merged }: Step): PlanOutput["steps"][number] {
  return {
    ...pathOf(path),
    action: kind === "attributes" ? "rights" : kind,
    type: (after ?? before)?.type ?? "file",
    isNew: before === null,
    isMerged: merged !== null,
    sizeBytes: merged?.length ?? after?.sizeBytes ?? 0,
  };
}

function pathOf(rawPath: string): { path: string; pathBase64?: string } {
  const pathBase64 = toBase64(rawPath);
  return { path: `/${toText(rawPath)}`, ...(pathBase64 === undefined ? {} : { pathBase64 }) };
}
