import { type Contender, timed } from "../measuring/contender.ts";
import type { BtrfsTree } from "../worlds/btrfs-tree.ts";

/** `cp -a --reflink` of the directory `tree` beside itself, and back. */
export function reflinkCopy(world: BtrfsTree, change: () => void): Contender {
  const subvolume = (what: string, name: string) => world.run("btrfs", ["subvolume", what, name]);
  const copy = (from: string, to: string) =>
    timed(() => world.run("cp", ["-a", "--reflink=always", `${from}/.`, to]));
  return {
    name: "cp --reflink",
    run: async () => {
      change();
      // Into subvolumes, because they can be removed at once.
      for (const name of ["copy", "back"]) await subvolume("create", name);
      const saved = await copy("tree", "copy");
      const returned = await copy("copy", "back");
      for (const name of ["copy", "back"]) await subvolume("delete", name);
      return { save: saved.tookMs, "go back": returned.tookMs };
    },
  };
}
