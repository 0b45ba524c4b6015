import type { Changes, PackageChange } from "../../../shared/protocol/index.ts";

/** So many packages are named. */
const NAMED_MAX = 2;

/** Returns packages in brief: "1 package (left-pad installed)", "12 packages (postgresql-15 installed)". */
export function summarizePackages({ packages }: Changes): string | null {
  if (packages === null || packages.length === 0) return null;
  // What is in a project and in a cache, or in two places of a tree, is one package.
  const told = new Map(packages.map((each) => [nameOf(each), each]));
  const asked = [...told.values()].filter(({ dependency }) => dependency !== true);
  const names = asked.map(({ name, change }) => `${name} ${change}`);
  const isFew = names.length > 0 && names.length <= NAMED_MAX;
  const count = `${told.size.toLocaleString("en")} ${told.size === 1 ? "package" : "packages"}`;
  return isFew ? `${count} (${names.join(", ")})` : count;
}

function nameOf({ manager, name, change, before, after }: PackageChange): string {
  return [manager, name, change, before ?? "", after ?? ""].join(" ");
}
