import { toText } from "../../base/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { OperationOutput, RestoreParts, RevertPlan } from "../../shared/protocol/index.ts";
import { openMoment } from "../moment/index.ts";
import type { Engine } from "../ports/index.ts";
import type { Loss } from "./capture-before.ts";
import { refuseOtherKinds } from "./file-actions.ts";
import { ComparedMoments, findHolders } from "./find-actions.ts";
import { changeOf, type FoundRevert, findRevert } from "./find-revert.ts";
import { LineReverts } from "./line-reverts.ts";
import { reasonOf } from "./plan-restore.ts";
import { putBackFiles } from "./put-back-files.ts";
import { checkIf } from "./restore-session.ts";

const LISTED_MAX = 10_000;
const NEVER = new AbortController().signal;

/** What changed from `from` to `to`, in some files, is to be taken back. */
export interface DesiredRevert {
  from: CheckpointRow;
  to: CheckpointRow;
  parts: RestoreParts;
  force: boolean;
}

/**
 * Takes back what changed in a session's files between two checkpoints; what runs goes on, and what
 * came later stays.
 *
 * **Requires** the caller holds the session's lease; the session runs.
 * **On failure** the files are as they were.
 *
 * @throws what `putBackFiles` throws | USAGE_INVALID  both are the same checkpoint.
 */
export async function revertChanges(
  session: SessionRow,
  desired: DesiredRevert & Loss & { check: boolean },
  engine: Engine,
): Promise<OperationOutput<"revert">> {
  requireTwo(desired);
  const { from, to, parts } = desired;
  await using joins = new LineReverts(engine, NEVER);
  let found: FoundRevert = { actions: [], joined: [], conflicts: [] };
  const { paths, ...put } = await putBackFiles(
    session,
    {
      kind: "revert",
      source: from,
      intent: `before what changed from ${from.name ?? from.id} to ${to.name ?? to.id} was taken back`,
      find: async (pair) => {
        found = await findRevert(pair, desired, joins, engine, NEVER);
        return found.actions;
      },
      detail: { parts, since: to.id, undoes: null },
    },
    desired,
    engine,
  );
  // Texts whose lines were joined are in no checkpoint that they could be compared with.
  const joined = new Set(found.joined);
  const asBefore = new Set([...paths].filter((path) => !joined.has(path)));
  const expected = { parts, processesOf: null, filesOf: from, paths: asBefore };
  const check = await checkIf(desired, session, expected, engine);
  return { ...put, parts, check, since: to.id, ...listed(found) };
}

/** Returns what a revert would do, and changes nothing. @throws as {@link revertChanges} */
export async function planRevert(
  session: SessionRow,
  desired: DesiredRevert,
  engine: Engine,
  signal: AbortSignal,
): Promise<RevertPlan> {
  requireTwo(desired);
  await using now = await openMoment({ session }, engine);
  await using past = await openMoment({ checkpoint: desired.from }, engine);
  using pair = new ComparedMoments(now, past);
  await using joins = new LineReverts(engine, signal);
  const found = await findRevert(pair, desired, joins, engine, signal);
  const { actions } = found;
  const files = actions.slice(0, LISTED_MAX).map(({ rawPath, have, want }) => ({
    path: toText(rawPath),
    type: (want ?? have)?.type ?? "file",
    change: changeOf(have, want),
  }));
  return {
    ...{ session: session.id, sessionName: session.name, from: desired.from.id, to: desired.to.id },
    ...{ parts: desired.parts, files, filesCount: actions.length },
    ...listed(found),
    heldOpen: findHolders(actions, session.id, engine),
    refused: reasonOf(() => refuseOtherKinds(actions)),
  };
}

function listed({ joined, conflicts }: FoundRevert) {
  return {
    ...{ joined: joined.slice(0, LISTED_MAX).map(toText), joinedCount: joined.length },
    ...{ conflicts: conflicts.slice(0, LISTED_MAX), conflictsCount: conflicts.length },
  };
}

function requireTwo({ from, to }: DesiredRevert): void {
  if (from.id !== to.id) return;
  throw new WaypointError("USAGE_INVALID", `Both are checkpoint ${from.id}.`, {
    hint: "Give the one to go back to, then the one that has what is to be taken back.",
  });
}
