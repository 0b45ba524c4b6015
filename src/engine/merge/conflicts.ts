import { toText } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { gitOwnPath } from "./apply/git-own-path.ts";
import type { Plan } from "./plan.ts";

/** Conflicts that an error lists; further ones are counted. */
const CONFLICTS_MAX = 100;

/**
 * Refuses a plan on which the two sides do not agree.
 *
 * @param force  one side was chosen; what cannot be written without leaving the target is refused still.
 * @throws APPLY_CONFLICT  `detail.conflicts` has the first of them, `detail.total` how many.
 */
export function refuseConflicts({ conflicts }: Pick<Plan, "conflicts">, force: boolean): void {
  const refused = force ? conflicts.filter(({ kind }) => kind === "blocked") : conflicts;
  const [first] = refused;
  if (first === undefined) return;
  const more = refused.length === 1 ? "" : `, and ${refused.length - 1} more`;
  throw new WaypointError(
    "APPLY_CONFLICT",
    `Nothing was written: /${toText(first.path)} is in conflict (${first.why})${more}.`,
    {
      hint: hintOf(refused, force),
      detail: {
        total: refused.length,
        conflicts: refused.slice(0, CONFLICTS_MAX).map(({ path, kind, why }) => ({
          ...{ path: `/${toText(path)}`, kind, why },
        })),
      },
    },
  );
}

function hintOf(refused: Plan["conflicts"], force: boolean): string {
  if (force) return "A path that is blocked cannot be forced; move away what is in its place.";
  // Its files are of one piece: one side's branch with the other side's index helps nobody.
  if (refused.every(({ path }) => gitOwnPath(`/${path}`) !== null)) {
    return "Both have committed: pull the session's commits with git out of what `waypoint browse` mounts, or give the PATHs of files.";
  }
  return "--dry-run lists them; give the PATHs that you want, or --force to take the other side.";
}
