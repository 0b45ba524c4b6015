import { type Contender, timed } from "../measuring/contender.ts";
import type { BtrfsTree } from "../worlds/btrfs-tree.ts";

const IDENTITY = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
const SETTINGS = [...IDENTITY, "-c", "commit.gpgsign=false", "-c", "gc.auto=0"];

/** A repository beside the tree, as coding agents keep one: `add -A`, `commit`, `checkout`. */
export async function shadowGit(world: BtrfsTree, change: () => void): Promise<Contender> {
  const places = ["--git-dir=shadow.git", "--work-tree=tree"];
  const git = (...words: string[]) => world.run("git", [...places, ...SETTINGS, ...words]);
  const save = async () => {
    await git("add", "-A");
    await git("commit", "--quiet", "--allow-empty", "-m", "saved");
  };
  await world.run("git", ["init", "--quiet", "--bare", "shadow.git"]);
  await world.run("git", ["--git-dir=shadow.git", "config", "core.bare", "false"]);
  await save();
  return {
    name: "shadow git",
    run: async () => {
      change();
      const saved = await timed(save);
      change();
      const returned = await timed(() => git("checkout", "--force", "--quiet", "HEAD", "--", "."));
      return { save: saved.tookMs, "go back": returned.tookMs };
    },
  };
}
