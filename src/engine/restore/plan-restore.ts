import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { ChangesSection, RestoreParts, RestorePlan } from "../../shared/protocol/index.ts";
import { requireCaptured } from "../checkpoint/index.ts";
import { openMoment } from "../moment/index.ts";
import type { Engine } from "../ports/index.ts";
import { findActiveTypist } from "../session/index.ts";
import { compareMoments, WHOLE_SCOPE } from "../story/index.ts";
import { refuseOtherKinds } from "./file-actions.ts";
import { scopeOf } from "./file-scope.ts";
import { ComparedMoments, findActions, findHolders } from "./find-actions.ts";
import { findUntouched } from "./find-untouched.ts";
import { agentMessagesSince, commandsSince } from "./history-since.ts";
import { planEffects } from "./plan-effects.ts";
import { planState } from "./plan-state.ts";

const FILES_MAX = 20_000;
const FILE_SECTIONS: readonly ChangesSection[] = ["files", "packages"];
const PROCESS_SECTIONS: readonly ChangesSection[] = [
  ...(["processes", "ports", "connections"] as const),
  ...(["env", "functions", "cwd", "virtualenv"] as const),
];

/**
 * Returns what a restore would undo, and changes nothing.
 *
 * It is the difference from the session as it is now to the checkpoint, by the readers that tell any
 * difference; so what was told and what is then done come from the same source.
 *
 * @throws FILE_NOT_FOUND | FILE_REFUSED  of a path that was named | CHECKPOINT_INCOMPLETE | STORE_FULL
 */
export async function planRestore(
  session: SessionRow,
  wanted: CheckpointRow,
  { parts, expand }: { parts: RestoreParts; expand: boolean },
  engine: Engine,
  signal: AbortSignal,
): Promise<RestorePlan> {
  // Where a restore has just left it frozen, its processes are told from its dump. One that CRIU
  // refuses has its files told.
  const checkpoint = await requireCaptured(wanted, engine).catch(() => wanted);
  await using now = await openMoment({ session }, engine);
  await using past = await openMoment({ checkpoint }, engine);
  const scope = {
    ...{ ...WHOLE_SCOPE, isExpanded: expand, filesMax: FILES_MAX },
    ...{ sections: sectionsOf(parts), isWanted: scopeOf(parts) },
  };
  const changes = await compareMoments({ from: now, to: past }, { scope, engine, signal });
  const isWhole = parts.only === null || parts.only === "machine";
  const none = { commands: [], commandsUnknown: null };
  const { id, name, content } = checkpoint;
  return {
    ...{ session: session.id, sessionName: session.name, checkpoint: id, checkpointName: name },
    ...{ content, parts, changes },
    ...(isWhole ? await commandsSince(session, checkpoint, engine) : none),
    ...planEffects(session, checkpoint, parts, engine),
    state: planState(session, checkpoint, parts, engine),
    told: parts.only === null ? agentMessagesSince(session, checkpoint, engine) : [],
    outside: {
      connections: isBesideProcesses(parts) ? [] : (changes.connections?.closed ?? []),
      binds: [...session.binds],
      contacts: await engine.contacts.since(session, checkpoint),
    },
    ...(await lookAtFiles(session, new ComparedMoments(now, past), parts, engine, signal)),
    typing: findActiveTypist(session, engine),
    untouched: findUntouched(session, checkpoint, engine),
  };
}

/** Whether what runs goes on. */
function isBesideProcesses({ only }: RestoreParts): boolean {
  return only === "files" || only === "state";
}

function sectionsOf({ only, paths, except }: RestoreParts): readonly ChangesSection[] | null {
  if (only === "processes") return PROCESS_SECTIONS;
  if (only === null || only === "machine") return null;
  if (only === "state") return [];
  // A package is more than the files that were named.
  return paths.length + except.length > 0 ? ["files"] : FILE_SECTIONS;
}

/** What matters only where files change under processes that go on. */
async function lookAtFiles(
  session: SessionRow,
  opened: ComparedMoments,
  parts: RestoreParts,
  engine: Engine,
  signal: AbortSignal,
): Promise<Pick<RestorePlan, "heldOpen" | "refused">> {
  using pair = opened;
  if (parts.only !== "files") return { heldOpen: [], refused: null };
  const actions = await findActions(pair, parts, engine, signal);
  return {
    heldOpen: findHolders(actions, session.id, engine),
    refused: reasonOf(() => refuseOtherKinds(actions)),
  };
}

/** Returns why a step refuses, or `null`. */
export function reasonOf(step: () => void): string | null {
  try {
    step();
    return null;
  } catch (error) {
    if (error instanceof WaypointError) return error.message;
    throw error;
  }
}
