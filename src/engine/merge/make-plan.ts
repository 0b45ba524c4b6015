import { readdirSync } from "node:fs";
import { fdPath, toBytes } from "../../base/index.ts";
import {
  digestOf,
  hasSameContent,
  hasSameXattrs,
  identityOf,
  parentOf,
  type Seen,
  type Target,
  type TargetPath,
  type Version,
} from "../changes/index.ts";
import { type Decision, type DecisionRules, decide } from "./decide.ts";
import type { DesiredChange, Plan, Step } from "./plan.ts";

const TAKEN: readonly Version["type"][] = ["file", "symlink", "directory", "fifo"];
const ORDER = { delete: 0, mkdir: 1, write: 2, attributes: 3 } as const;

/** What a plan is made by. */
export interface PlanRules extends Omit<DecisionRules, "calls"> {
  /** Returns the directory that the other side has at a path, for those that are missing. */
  directoryAt: (path: TargetPath) => Version | null;
  signal: AbortSignal;
}

/** Makes the plan that brings desired changes into a target; nothing is written. */
export async function makePlan(
  desired: readonly DesiredChange[],
  target: Target,
  rules: PlanRules,
): Promise<Plan> {
  const planning = new Planning(target, rules);
  // Parents before what is in them.
  for (const change of desired.toSorted((one, other) => (one.path < other.path ? -1 : 1))) {
    rules.signal.throwIfAborted();
    await planning.add(change);
  }
  return planning.finish();
}

class Planning {
  readonly #target: Target;
  readonly #rules: PlanRules;
  readonly #plan: Plan = { steps: [], conflicts: [], sameCount: 0, notes: [] };
  /** Paths at which something that was no directory makes room for one. */
  readonly #opened = new Set<TargetPath>();
  readonly #made = new Set<TargetPath>();

  constructor(target: Target, rules: PlanRules) {
    this.#target = target;
    this.#rules = rules;
  }

  async add(change: DesiredChange): Promise<void> {
    const { path, theirs } = change;
    if (theirs !== null && !TAKEN.includes(theirs.type)) {
      this.#plan.notes.push({ path, reason: `a ${theirs.type.replace("-", " ")} is left out` });
      return;
    }
    await this.#target.look(path, async (seen) => {
      const isOpened = this.#isBelowOpened(path);
      if (seen.isBlocked && !isOpened) return this.#block(change);
      const now: Seen = isOpened ? { version: null, status: null, isBlocked: false } : seen;
      // Known to be as it was a moment ago; somebody may have come in between.
      const isUnsure = change.base === "ours" && now.status?.ctimeNs !== change.ctimeNs;
      const asked = isUnsure ? { ...change, base: "unknown" as const } : change;
      const rules = { ...this.#rules, calls: this.#target.calls };
      const decision = await decide(asked, now.version, rules);
      if (decision.note !== null) this.#plan.notes.push({ path, reason: decision.note });
      if (decision.conflict !== null) this.#plan.conflicts.push({ path, ...decision.conflict });
      if (decision.outcome === "take") await this.#take(change, decision, now);
      else if (decision.conflict === null) this.#plan.sameCount += 1;
    });
  }

  finish(): Plan {
    const { steps, conflicts } = this.#plan;
    const deleted = new Set(steps.filter(({ kind }) => kind === "delete").map(({ path }) => path));
    const kept = new Set<Step>();
    // Those deep inside first: what is kept there keeps what it is in.
    const deletes = steps.filter(
      ({ kind, identity }) => kind === "delete" && identity?.type === "directory",
    );
    for (const step of deletes.toSorted((one, other) => (one.path > other.path ? -1 : 1))) {
      if (this.#namesIn(step.path).every((name) => deleted.has(`${step.path}/${name}`))) continue;
      deleted.delete(step.path);
      kept.add(step);
      if (step.isOptional) {
        this.#plan.notes.push({ path: step.path, reason: "kept: others have put something in it" });
      } else {
        const why = "to be replaced by something else, but others have put something in it";
        conflicts.push({ path: step.path, kind: "blocked", why });
      }
    }
    this.#plan.steps = steps
      .filter((step) => !kept.has(step))
      .toSorted((one, other) => ORDER[one.kind] - ORDER[other.kind] || comparePaths(one, other))
      .map((step, number) => ({ ...step, number }));
    return this.#plan;
  }

  async #take(
    { path, theirs, linkKey }: DesiredChange,
    { after, merged, isJoined, conflict }: Decision,
    { version, status }: Seen,
  ): Promise<void> {
    const before = version === null ? null : await describe(version);
    const identity = version === null || status === null ? null : identityOf(status, version);
    const joinedFrom = isJoined && theirs !== null ? await describe(theirs) : null;
    const origin = { joinedFrom, isForced: conflict !== null, isOptional: false };
    const step = { ...{ path, identity, before, after, merged, linkKey }, ...origin };
    if (after === null) {
      return this.#push({ ...step, kind: "delete", isOptional: version?.type === "directory" });
    }
    await this.#makeParents(path);
    const areDirectories = after.type === "directory" && version?.type === "directory";
    const isRightsOnly = version?.type === "file" && after.type === "file" && merged === null;
    const isAlike =
      isRightsOnly &&
      hasSameXattrs(version, after, this.#target.calls) &&
      (await hasSameContent(version, after));
    if (areDirectories || isAlike) {
      return this.#push({ ...step, kind: "attributes" });
    }
    const changesKind = (after.type === "directory") !== (version?.type === "directory");
    const isOld = version !== null && changesKind;
    if (isOld) {
      this.#push({ ...step, kind: "delete", after: null, merged: null });
      if (after.type === "directory") this.#opened.add(path);
    }
    const kind = after.type === "directory" ? "mkdir" : "write";
    if (kind === "mkdir") this.#made.add(path);
    this.#push({ ...step, kind, ...(isOld ? { identity: null, before: null } : {}) });
  }

  /** Directories on the way that the target has not (any more) are made as the other side has them. */
  async #makeParents(path: TargetPath): Promise<void> {
    const parent = parentOf(path);
    if (parent === "" || this.#made.has(parent)) return;
    const isThere = await this.#target.look(parent, async ({ version }) => version !== null);
    if (isThere && !this.#isBelowOpened(parent)) return;
    await this.#makeParents(parent);
    const after = this.#rules.directoryAt(parent);
    if (after === null || this.#made.has(parent)) return;
    this.#made.add(parent);
    const nothing = { identity: null, before: null, merged: null, linkKey: null, joinedFrom: null };
    const step = { ...nothing, path: parent, after, isForced: false, isOptional: false };
    this.#push({ ...step, kind: "mkdir" });
  }

  #block({ path, theirs }: DesiredChange): void {
    // What is to be deleted is not there.
    if (theirs === null) this.#plan.sameCount += 1;
    else {
      const why = "a link, or something that is no directory, is on the way";
      this.#plan.conflicts.push({ path, kind: "blocked", why });
    }
  }

  #isBelowOpened(path: TargetPath): boolean {
    if (this.#opened.size === 0) return false;
    for (let at = parentOf(path); at !== ""; at = parentOf(at)) {
      if (this.#opened.has(at)) return true;
    }
    return false;
  }

  #namesIn(path: TargetPath): string[] {
    using directory = this.#target.openDirectory(path);
    if (directory === null) return [];
    return readdirSync(toBytes(`${fdPath(directory.fd)}/.`), "latin1");
  }

  #push(step: Omit<Step, "number">): void {
    this.#plan.steps.push({ ...step, number: 0 });
  }
}

/** Deleted ones from the inside out, all others from the outside in. */
function comparePaths(one: Step, other: Step): number {
  const order = one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
  return one.kind === "delete" ? -order : order;
}

/** Returns what was there so that it can be told later whether something is still like it. */
async function describe(version: Version): Promise<Version> {
  return { ...version, content: { digest: await digestOf(version) } };
}
