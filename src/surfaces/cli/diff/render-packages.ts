import type { Changes, PackageChange } from "../../../shared/protocol/index.ts";
import { printable } from "../text/printable.ts";
import type { Paint } from "../text/style.ts";
import { type Mark, renderMark } from "./render-mark.ts";

const MARKS: Readonly<Record<PackageChange["change"], Mark>> = {
  installed: "added",
  upgraded: "modified",
  downgraded: "modified",
  removed: "deleted",
};

/** Returns one line per package that came, went or has another version. */
export function renderPackages(
  { packages }: Changes,
  { paint, isBrief }: { paint: Paint; isBrief: boolean },
): string[] {
  return (packages ?? []).map((each) => {
    const name = `${renderMark(MARKS[each.change], paint)} package ${each.manager} ${printable(each.name)}`;
    return isBrief ? name : `${name}${paint("dim", `  ${describe(each).join(", ")}`)}`;
  });
}

function describe({ before, after, path, change, dependency }: PackageChange): string[] {
  const versions = [before, after].filter((version) => version !== null).map(printable);
  return [
    versions.join(" → "),
    ...(change === "downgraded" ? ["downgraded"] : []),
    ...(path === null ? [] : [printable(path)]),
    ...(dependency === true ? ["dependency"] : []),
  ];
}
