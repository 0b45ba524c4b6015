import type { Changes, PackageChange } from "../../../shared/protocol/index.ts";
import { NOTHING_TOLD, type SummaryPart } from "../section.ts";

/** So many packages are named. */
const NAMED_MAX = 3;

/** Returns packages in brief: "left-pad installed", "postgresql-15 installed" and "12 packages". */
export function summarizePackages({ packages }: Changes): SummaryPart {
  if (packages === null || packages.length === 0) return NOTHING_TOLD;
  // What is in a project and in a cache, or in two places of a tree, is one package.
  const told = new Map(packages.map((each) => [nameOf(each), each]));
  const asked = [...told.values()].filter(({ dependency }) => dependency !== true);
  const names = asked.map(({ name, change }) => `${name} ${change}`);
  const named = names.length <= NAMED_MAX ? names : [];
  const count = `${told.size.toLocaleString("en")} ${told.size === 1 ? "package" : "packages"}`;
  return { named, counted: named.length === told.size ? [] : [count] };
}

function nameOf({ manager, name, change, before, after }: PackageChange): string {
  return [manager, name, change, before ?? "", after ?? ""].join(" ");
}
