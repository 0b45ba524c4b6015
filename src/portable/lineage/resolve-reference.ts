import { didYouMean, WaypointError } from "../../shared/errors/index.ts";
import { verdictOf } from "../../shared/protocol/index.ts";
import type { Catalog } from "../catalog/index.ts";
import type { CheckpointRow, SessionRow } from "../model/index.ts";
import { historyOf } from "./ancestry.ts";

const CANDIDATES_SHOWN_MAX = 8;
const SHOWN_LENGTH_MAX = 80;
const LOG_HINT = "`waypoint log` lists the checkpoints.";
const RELATIVE = /^(?<session>[^@]*)@(?:~(?<back>\d{1,6})|(?<good>good))?$/;

/** Finds a session by name, id or unique prefix of its id. @throws SESSION_NOT_FOUND | REFERENCE_AMBIGUOUS */
export function resolveSession(reference: string, catalog: Catalog): SessionRow {
  const exact = catalog.sessionByName(reference) ?? catalog.session(reference);
  if (exact !== undefined) return exact;
  // `@` alone names no session, also where there is only one.
  const matches =
    reference === "" ? [] : catalog.sessions().filter(({ id }) => id.startsWith(reference));
  if (matches.length === 1) return matches[0] as SessionRow;
  if (matches.length > 1) throw ambiguous("sessions", reference, matches);
  throw new WaypointError("SESSION_NOT_FOUND", `There is no session ${shown(reference)}.`, {
    hint: hintFor(reference, sessionNames(catalog), "`waypoint ls` lists the sessions."),
  });
}

/**
 * Finds a checkpoint by id, unique prefix, name, `NAME@`, `NAME@~2`, `NAME@good` or a session's name
 * alone.
 *
 * `NAME@` and `NAME` are where the session stands: its newest checkpoint, or after a restore the one
 * that it was put back to. `NAME@~2` is two before that, `NAME@good` the newest that passed its
 * verification. A checkpoint that is named exactly goes
 * before a session, and a session before a prefix.
 *
 * @throws CHECKPOINT_NOT_FOUND | SESSION_NOT_FOUND | REFERENCE_AMBIGUOUS
 */
export function resolveCheckpoint(reference: string, catalog: Catalog): CheckpointRow {
  const moment = findMoment(reference, catalog);
  if (moment === undefined) throw unknownCheckpoint(reference, catalog);
  return "session" in moment ? standOf(moment.session, catalog) : moment.checkpoint;
}

/**
 * As {@link resolveCheckpoint}, but a session's name alone names none: for what removes checkpoints.
 *
 * @throws as {@link resolveCheckpoint}
 */
export function resolveOnlyCheckpoint(reference: string, catalog: Catalog): CheckpointRow {
  const found = findCheckpoint(reference, catalog);
  if (found === undefined) throw unknownCheckpoint(reference, catalog);
  return found;
}

/** Returns the checkpoint that a session stands on. @throws CHECKPOINT_NOT_FOUND */
export function standOf(session: SessionRow, catalog: Catalog): CheckpointRow {
  const row = session.head === null ? undefined : catalog.checkpoint(session.head);
  if (row !== undefined) return row;
  throw notFound(`Session ${session.name} has no checkpoint yet.`, {
    hint: `\`waypoint checkpoint ${session.name}\` makes one.`,
  });
}

/** As {@link resolveOnlyCheckpoint}, but for a reference that leads to nothing. */
function findCheckpoint(reference: string, catalog: Catalog): CheckpointRow | undefined {
  const relative = RELATIVE.exec(reference)?.groups;
  if (relative !== undefined) {
    const name = relative["session"] ?? "";
    if (name === "") throw withoutSession(reference);
    const session = resolveSession(name, catalog);
    if (relative["good"] !== undefined) return lastGood(session, catalog);
    return stepBack(session, Number(relative["back"] ?? 0), catalog);
  }
  const exact = catalog.checkpoint(reference) ?? catalog.checkpointByName(reference);
  if (exact !== undefined) return exact;
  const matches = catalog.checkpointsByPrefix(reference, CANDIDATES_SHOWN_MAX);
  if (matches.length > 1) throw ambiguous("checkpoints", reference, matches);
  return matches[0];
}

/**
 * Finds what a comparison names: a session by its name or id, as it is now, or a checkpoint.
 *
 * A checkpoint that is named exactly goes before a session, and a session before a prefix.
 *
 * @throws CHECKPOINT_NOT_FOUND | SESSION_NOT_FOUND | REFERENCE_AMBIGUOUS
 */
export function resolveMoment(
  reference: string,
  catalog: Catalog,
): { checkpoint: CheckpointRow } | { session: SessionRow } {
  const moment = findMoment(reference, catalog);
  if (moment !== undefined) return moment;
  const lists = "`waypoint log` lists the checkpoints, `waypoint ls` the sessions.";
  throw notFound(`There is no checkpoint or session ${shown(reference)}.`, {
    hint: hintFor(reference, allNames(catalog), lists),
  });
}

/** As {@link resolveMoment}, but for a reference that leads to nothing. */
function findMoment(
  reference: string,
  catalog: Catalog,
): { checkpoint: CheckpointRow } | { session: SessionRow } | undefined {
  const exact = catalog.checkpoint(reference) ?? catalog.checkpointByName(reference);
  if (exact !== undefined) return { checkpoint: exact };
  const session = catalog.sessionByName(reference) ?? catalog.session(reference);
  if (session !== undefined) return { session };
  const checkpoint = findCheckpoint(reference, catalog);
  return checkpoint === undefined ? undefined : { checkpoint };
}

function stepBack(session: SessionRow, steps: number, catalog: Catalog): CheckpointRow {
  let current: CheckpointRow | undefined = standOf(session, catalog);
  for (let step = 0; step < steps; step += 1) {
    current = current.parent === null ? undefined : catalog.checkpoint(current.parent);
    if (current === undefined) {
      const farthest = `only ${step + 1}`;
      throw notFound(`Session ${session.name} has no checkpoint that far back: ${farthest}.`);
    }
  }
  return current;
}

/** The newest of its history, whatever branch that is on, that its verify command passed. */
function lastGood(session: SessionRow, catalog: Catalog): CheckpointRow {
  const verdicts = catalog.verifications.verdicts({ command: session.verifyCommand });
  const good = historyOf(session, catalog).findLast(({ id }) => {
    const verdict = verdicts.get(id);
    return verdict !== undefined && verdictOf(verdict) === "passing";
  });
  if (good !== undefined) return good;
  throw notFound(`No checkpoint of session ${session.name} has passed a verification.`, {
    hint:
      session.verifyCommand === null
        ? `\`waypoint verify --session ${session.name} -- COMMAND\` runs one against all of them.`
        : `\`waypoint verify --session ${session.name}\` runs its verify command against all of them.`,
  });
}

function withoutSession(reference: string): WaypointError {
  return new WaypointError(
    "SESSION_NOT_FOUND",
    `There is no session name before @ in ${shown(reference)}.`,
    { hint: "Write the name of a session before it, as in web@ or web@~1." },
  );
}

function unknownCheckpoint(reference: string, catalog: Catalog): WaypointError {
  return notFound(`There is no checkpoint ${shown(reference)}.`, {
    hint: hintFor(reference, allNames(catalog), LOG_HINT),
  });
}

/** A name that may have been meant goes before where to look for all of them. */
function hintFor(reference: string, names: readonly string[], lists: string): string {
  return [didYouMean(reference, names), lists].filter((text) => text !== "").join(" ");
}

function sessionNames(catalog: Catalog): string[] {
  return catalog.sessions().map(({ name }) => name);
}

function allNames(catalog: Catalog): string[] {
  const checkpoints = catalog.timeline().flatMap(({ name }) => (name === null ? [] : [name]));
  return [...new Set([...sessionNames(catalog), ...checkpoints])];
}

function notFound(message: string, { hint = LOG_HINT } = {}): WaypointError {
  return new WaypointError("CHECKPOINT_NOT_FOUND", message, { hint });
}

function ambiguous(
  what: string,
  reference: string,
  matches: readonly { id: string }[],
): WaypointError {
  const ids = matches.slice(0, CANDIDATES_SHOWN_MAX).map(({ id }) => id);
  return new WaypointError("REFERENCE_AMBIGUOUS", `${shown(reference)} fits several ${what}.`, {
    hint: `Write more of the id: ${ids.join(", ")}.`,
    detail: { candidates: ids },
  });
}

function shown(reference: string): string {
  return JSON.stringify(
    reference.length > SHOWN_LENGTH_MAX ? `${reference.slice(0, SHOWN_LENGTH_MAX)}…` : reference,
  );
}
