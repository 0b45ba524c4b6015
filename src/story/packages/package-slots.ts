import type { PackageChange } from "../../protocol/index.ts";
import type { RawPath } from "../files/raw-path.ts";
import { compareDebianVersions, compareVersions } from "./compare-versions.ts";
import type { FoundPackage, PackageFile } from "./package-file.ts";

type Manager = PackageChange["manager"];

/** A change of a package, with what its environment is called exactly. */
export interface SlotChange extends Pick<PackageChange, "manager" | "change" | "before" | "after"> {
  name: string;
  environment: RawPath | null;
  /** What it was told by: name and architecture, or a place. */
  key: string;
  isDependency: boolean;
}

interface Slot {
  manager: Manager;
  environment: RawPath | null;
  key: string;
  name: string;
  isDependency: boolean;
  before: Set<string>;
  after: Set<string>;
}

/** What package files told before and after, joined: whatever one file took away, another may have. */
export class PackageSlots {
  readonly #slots = new Map<string, Slot>();

  add(file: PackageFile, before: readonly FoundPackage[], after: readonly FoundPackage[]): void {
    for (const found of before) this.#slotOf(file, found).before.add(found.version);
    for (const found of after) {
      const slot = this.#slotOf(file, found);
      slot.after.add(found.version);
      slot.isDependency = found.isDependency === true;
    }
  }

  /** Returns what is not the same before and after. */
  changes(): SlotChange[] {
    return [...this.#slots.values()].flatMap((slot) => {
      const { manager, environment, key, name, isDependency } = slot;
      return changesOf(slot).map((change) => {
        return { manager, environment, key, name, isDependency, ...change };
      });
    });
  }

  #slotOf({ manager, environment }: PackageFile, found: FoundPackage): Slot {
    const { name, key = name, isDependency = false } = found;
    const id = [manager, environment ?? "", key].join("\0");
    const known = this.#slots.get(id);
    if (known !== undefined) return known;
    const sides = { before: new Set<string>(), after: new Set<string>() };
    const slot = { manager, environment, key, name, isDependency, ...sides };
    this.#slots.set(id, slot);
    return slot;
  }
}

/** One version in place of one other is an upgrade; of several nobody can say which took whose. */
function changesOf({ manager, before, after }: Slot) {
  const gone = [...before].filter((version) => !after.has(version));
  const come = [...after].filter((version) => !before.has(version));
  const [from, to] = [gone[0], come[0]];
  if (gone.length === 1 && come.length === 1 && from !== undefined && to !== undefined) {
    const compare = manager === "dpkg" ? compareDebianVersions : compareVersions;
    const change = compare(from, to) > 0 ? ("downgraded" as const) : ("upgraded" as const);
    return [{ change, before: from, after: to }];
  }
  return [
    ...gone.map((version) => ({ change: "removed" as const, before: version, after: null })),
    ...come.map((version) => ({ change: "installed" as const, before: null, after: version })),
  ];
}
