import type { RawPath } from "../../../base/index.ts";
import type { FoundPackage, PackageFile } from "../../../formats/packages/index.ts";
import { compareDebianVersions, compareVersions } from "../../../formats/packages/index.ts";
import type { PackageChange } from "../../../shared/protocol/index.ts";

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

/** Versions of packages at one place or another: more than anyone looks through. */
const VERSIONS_MAX = 200_000;

/** What package files told before and after, joined: whatever one file took away, another may have. */
export class PackageSlots {
  readonly #slots = new Map<string, Slot>();
  #versionsLeft = VERSIONS_MAX;

  /** @throws Error  all files together tell of too many packages. */
  add(file: PackageFile, before: readonly FoundPackage[], after: readonly FoundPackage[]): void {
    for (const found of before) this.#note(this.#slotOf(file, found).before, found);
    for (const found of after) {
      const slot = this.#slotOf(file, found);
      this.#note(slot.after, found);
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

  #note(versions: Set<string>, { version }: FoundPackage): void {
    if (versions.has(version)) return;
    if (this.#versionsLeft === 0) throw new Error("there are too many packages to be told");
    this.#versionsLeft -= 1;
    versions.add(detached(version));
  }

  #slotOf({ manager, environment }: PackageFile, found: FoundPackage): Slot {
    const { name, key = name, isDependency = false } = found;
    const id = [manager, environment ?? "", key].join("\0");
    const known = this.#slots.get(id);
    if (known !== undefined) return known;
    const sides = { before: new Set<string>(), after: new Set<string>() };
    const texts = { key: detached(key), name: detached(name) };
    const slot = { manager, environment, ...texts, isDependency, ...sides };
    this.#slots.set(id, slot);
    return slot;
  }
}

/** Part of a text keeps all of it in memory; a copy does not. */
function detached(text: string): string {
  return Buffer.from(text).toString();
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
