import { isAtOrBelow, normalText, type RawPath } from "../../../base/index.ts";
import type { RawChange } from "../../moment/index.ts";
import type { ChangesReader } from "../section.ts";
import { describeChanges } from "./describe-changes.ts";
import { shareFileChanges } from "./share-file-changes.ts";
import { summarizeFiles } from "./summarize-files.ts";

/** The files that differ between two moments, read from their snapshots. */
export const FILES_READER: ChangesReader = {
  sections: ["files"],
  read: async (pair, context) => {
    using found = shareFileChanges(pair, context);
    const { changes, unknown } = await found.changes;
    const under = context.scope.under === null ? null : normalText(context.scope.under);
    const { isWanted = () => true } = context.scope;
    const scoped = changes
      .filter((change) => under === null || isAbout(change, under))
      .filter(({ path, from }) => isWanted(path) || (from !== null && isWanted(from)));
    return { ...(await describeChanges(scoped, context.scope, context)), unknown };
  },
  summarize: summarizeFiles,
};

/** A path below, or a directory on the way there that came, went or moved as a whole. */
function isAbout({ path: at, from, change }: RawChange, under: RawPath): boolean {
  if (isAtOrBelow(at, under) || (from !== null && isAtOrBelow(from, under))) return true;
  return change === "renamed" && [at, from ?? at].some((whole) => isAtOrBelow(under, whole));
}
