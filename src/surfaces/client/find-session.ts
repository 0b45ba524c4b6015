import { didYouMean, WaypointError } from "../../shared/errors/index.ts";
import type { Session as SessionInfo } from "../../shared/protocol/index.ts";

/**
 * Returns the session that `reference` names: its name, its id or a unique prefix of the id.
 *
 * @throws SESSION_NOT_FOUND | REFERENCE_AMBIGUOUS
 */
export function findSession(sessions: readonly SessionInfo[], reference: string): SessionInfo {
  const exact = sessions.find(({ id, name }) => id === reference || name === reference);
  if (exact !== undefined) return exact;
  const [first, ...others] =
    reference === "" ? [] : sessions.filter(({ id }) => id.startsWith(reference));
  if (first === undefined) {
    throw new WaypointError(
      "SESSION_NOT_FOUND",
      `There is no session ${JSON.stringify(reference)}.`,
      {
        hint: `${didYouMean(
          reference,
          sessions.map(({ name }) => name),
        )} List the sessions with \`waypoint ls\`.`.trim(),
        detail: { session: reference },
      },
    );
  }
  if (others.length === 0) return first;
  const candidates = [first, ...others].map(({ id }) => id);
  throw new WaypointError(
    "REFERENCE_AMBIGUOUS",
    `${JSON.stringify(reference)} is the beginning of several ids.`,
    {
      hint: "Give more characters of the id, or the session's name.",
      detail: { candidates: candidates.slice(0, 20) },
    },
  );
}
