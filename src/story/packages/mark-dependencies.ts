import type { BothFiles } from "../files/find-file-changes.ts";
import type { RawPath } from "../files/raw-path.ts";
import { EXTENDED_STATES, listAutomatic } from "./dpkg.ts";
import { listAsked } from "./npm.ts";
import type { SlotChange } from "./package-slots.ts";

const FILE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Marks the changes of packages that nobody asked for: apt keeps a list of them, a project of npm
 * names those it wants.
 */
export async function markDependencies(
  changes: readonly SlotChange[],
  files: BothFiles,
): Promise<SlotChange[]> {
  const marks = new Map<string, Promise<(key: string) => boolean>>();
  return await Promise.all(
    changes.map(async (change) => {
      const { manager, environment, key, isDependency } = change;
      if (manager !== "dpkg" && manager !== "npm") return change;
      const id = `${manager} ${environment ?? ""}`;
      const mark = marks.get(id) ?? tellsDependencies(manager, environment, files);
      marks.set(id, mark);
      return { ...change, isDependency: isDependency || (await mark)(key) };
    }),
  );
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
      const content = await side.read(rawPath, FILE_BYTES_MAX);
      return content === null ? null : list(content);
    } catch {
      return null; // It only says which of the packages deserve to be named.
    }
  }
}
