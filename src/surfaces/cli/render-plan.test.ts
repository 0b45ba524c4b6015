import { expect, test } from "vitest";
import type { PlanOutput } from "../../shared/protocol/index.ts";
import { renderPlan } from "./render-plan.ts";
import { plain } from "./text/style.ts";

type Step = PlanOutput["steps"][number];

function written(path: string, facts: Partial<Step> = {}): Step {
  const nothing = { isNew: true, isMerged: false, sizeBytes: 1024 };
  return { path, action: "write", type: "file", ...nothing, ...facts } as Step;
}

test("git's own files are one line for each repository, below what people wrote", () => {
  const steps = [
    written("/srv/app/.git/HEAD", { isNew: false }),
    written("/srv/app/.git/objects", { type: "directory", action: "mkdir", sizeBytes: 0 }),
    written("/srv/app/.git/objects/ab"),
    written("/srv/app/.gitignore"),
    written("/srv/app/index.js"),
    written("/srv/lib/.git/HEAD"),
  ];
  const totals = { written: 5, deleted: 0, directories: 1, rights: 0, conflicts: 0 };
  const plan = { steps, totals, conflicts: [], notes: [], noteCount: 0 } as unknown as PlanOutput;

  expect(renderPlan(plan, { done: "applied", isDryRun: true, target: "/srv" }, plain)).toEqual([
    "+ /srv/app/.gitignore  1.0 KiB",
    "+ /srv/app/index.js  1.0 KiB",
    "M /srv/app/.git/  2.0 KiB  (git: 2 files)",
    "M /srv/lib/.git/  1.0 KiB  (git: 1 file)",
    "Not applied, only planned, in /srv: 5 written, 1 directory made.",
  ]);
});
