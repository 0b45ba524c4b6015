import { InvalidArgumentError } from "commander";
import type { ChangesSection, MomentSection } from "../../shared/protocol/index.ts";

/** The sections of changes, in the order in which they are printed. */
export const CHANGES_SECTIONS = [
  ...(["files", "packages", "processes", "ports", "connections"] as const),
  ...(["cwd", "virtualenv", "env", "functions", "git"] as const),
] satisfies ChangesSection[];

/** What `show` has besides: what is told of the checkpoint itself. */
export type ShowSection = ChangesSection | MomentSection | "verification";

/** The sections of a checkpoint, likewise. */
export const SHOW_SECTIONS: readonly ShowSection[] = [
  "intent",
  ...CHANGES_SECTIONS,
  ...(["commands", "verification", "terminal"] as const),
];

/** Adds the sections of a comparison, "files,packages", to those given before. */
export function parseChangesSections(text: string, previous?: ChangesSection[]): ChangesSection[] {
  return parseSections(text, CHANGES_SECTIONS, previous);
}

/** Adds the sections of a checkpoint to those given before. */
export function parseShowSections(text: string, previous?: ShowSection[]): ShowSection[] {
  return parseSections(text, SHOW_SECTIONS, previous);
}

function parseSections<T extends string>(
  text: string,
  known: readonly T[],
  previous: readonly T[] = [],
): T[] {
  const given = text.split(",").map((name) => name.trim());
  const found = known.filter((name) => given.includes(name));
  if (given.every((name) => known.some((each) => each === name))) {
    return [...new Set([...previous, ...found])];
  }
  throw new InvalidArgumentError(`Give one or more of ${known.join(", ")}.`);
}
