import type { RawPath } from "../../../base/index.ts";
import {
  EXTENDED_STATES,
  LIST_BYTES_MAX,
  listAsked,
  listAutomatic,
} from "../../../formats/packages/index.ts";
import type { BothFiles } from "../../moment/index.ts";
import type { SlotChange } from "./package-slots.ts";

/**
 * Marks the changes of packages that nobody asked for: apt keeps a list of them, a project of npm
 * names those it wants.
 */
export async function markDependencies(
  changes: readonly SlotChange[],
  files: BothFiles,
): Promise<SlotChange[]> {
  const marked: SlotChange[] = [];
  // One after the other: what the files of all projects tell would be too much at once.
  for (const [{ manager, environment }, ofOne] of byEnvironment(changes)) {
    const tells =
      manager === "dpkg" || manager === "npm"
        ? await tellsDependencies(manager, environment, files)
        : () => false;
    for (const change of ofOne) {
      marked.push({ ...change, isDependency: change.isDependency || tells(change.key) });
    }
  }
  return marked;
}

function byEnvironment(changes: readonly SlotChange[]): Iterable<[SlotChange, SlotChange[]]> {
  const grouped = new Map<string, [SlotChange, SlotChange[]]>();
  for (const change of changes) {
    const id = `${change.manager} ${change.environment ?? ""}`;
    const known = grouped.get(id);
    if (known === undefined) grouped.set(id, [change, [change]]);
    else known[1].push(change);
  }
  return grouped.values();
}

async function tellsDependencies(
  manager: "dpkg" | "npm",
  environment: RawPath | null,
  files: BothFiles,
): Promise<(key: string) => boolean> {
  if (manager === "dpkg") {
    const automatic = await unite(files, `${environment ?? ""}${EXTENDED_STATES}`, listAutomatic);
    return (key) => automatic?.has(key) ?? false;
  }
  const top = environment === "/" ? "" : environment;
  const asked = top === null ? null : await unite(files, `${top}/package.json`, listAsked);
  return (place) => {
    const name = place.slice("node_modules/".length);
    const isNested = name.includes("node_modules/");
    return isNested || (asked !== null && !asked.has(name));
  };
}

/** What either moment has: what is removed was asked for before. `null` where neither can say. */
async function unite(
  files: BothFiles,
  rawPath: RawPath,
  list: (content: Buffer) => Set<string>,
): Promise<Set<string> | null> {
  const sides = await Promise.all([readList(files.from), readList(files.to)]);
  const known = sides.filter((side) => side !== null);
  return known.length === 0 ? null : new Set(known.flatMap((side) => [...side]));

  async function readList(side: BothFiles["from"]): Promise<Set<string> | null> {
    try {
      const content = await side.read(rawPath, LIST_BYTES_MAX);
      return content === null ? null : list(content);
    } catch {
      return null; // It only says which of the packages deserve to be named.
    }
  }
}
