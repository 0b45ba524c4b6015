import { fromText, isAtOrBelow } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { MomentFiles } from "./files/moment-files.ts";
import type { Moment } from "./moment.ts";

/**
 * Makes sure that a path that was named is there at one of the moments: what nobody has ever had is a
 * typo, and no answer about it would be true.
 *
 * @param named  absolute, without `.` and `..`.
 * @throws FILE_NOT_FOUND | FILE_REFUSED  it lies in a bind, which is never captured.
 */
export function requirePath(
  named: string,
  moments: readonly { moment: Moment; files: MomentFiles }[],
): void {
  const rawPath = fromText(named);
  const bind = moments
    .flatMap(({ moment }) => moment.origin.binds)
    .find(({ target }) => isAtOrBelow(rawPath, fromText(target)));
  if (bind !== undefined) {
    throw new WaypointError("FILE_REFUSED", `${named} is in a bind, which is never captured.`, {
      hint: `It is the directory ${bind.source} of the host; what is there is there as it is now.`,
      detail: { path: named, source: bind.source },
    });
  }
  if (moments.some(({ files }) => files.find(rawPath) !== null)) return;
  const names = [...new Set(moments.map(({ moment }) => moment.name))].join(" or ");
  throw new WaypointError("FILE_NOT_FOUND", `There is no ${named} in ${names}.`, {
    hint: "A path is absolute, or begins where the session's shell was. `waypoint browse` shows what is there.",
    detail: { path: named },
  });
}
