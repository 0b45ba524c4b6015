import { hasCode, WaypointError } from "../../../shared/errors/index.ts";
import type { Link } from "./link-record.ts";
import type { LinkableSession } from "./linkable-session.ts";

/** Where a session is, as seen from a link. */
export type Place = "there" | "elsewhere" | "elsewhere-and-kept";

/**
 * Tells whether a session is exactly as its link has it.
 *
 * To find that out, what is there otherwise may be captured: it is kept then, and need not be again.
 */
export async function placeOf(session: LinkableSession, link: Link): Promise<Place> {
  const { head, state } = await session.info();
  if (state !== "running" || head !== link.checkpoint) return "elsewhere";
  const now = await session.checkpoint({
    intent: "before the graph goes on from an earlier moment",
    ifChanged: true,
  });
  return now.id === link.checkpoint ? "there" : "elsewhere-and-kept";
}

/**
 * Checks that a session has the processes with which a run began.
 *
 * @throws GRAPH_MACHINE_MOVED  it was restored, or started again, meanwhile.
 */
export async function requireSameProcesses(
  session: LinkableSession,
  pid: number | null | undefined,
): Promise<void> {
  if (pid === undefined || (await session.info()).pid === pid) return;
  throw new WaypointError(
    "GRAPH_MACHINE_MOVED",
    `Session ${session.name} was restored, or started again, while the graph ran on it.`,
    {
      hint: "Run the graph again: it goes on from its last step, with the machine of that step.",
      detail: { session: session.id },
    },
  );
}

/** Puts a session back to its link. @throws GRAPH_MACHINE_GONE, and as the session's `restore` */
export async function moveBack(
  session: LinkableSession,
  link: Link,
  { place, only }: { place: Place; only: "machine" | undefined },
): Promise<void> {
  if (place === "there") return;
  const options = {
    ...(only === undefined ? {} : { only }),
    ...(place === "elsewhere-and-kept" ? { withoutUndo: true } : {}),
  };
  try {
    await session.restore(link.checkpoint, options);
  } catch (error) {
    throw goneOr(error, link);
  }
}

/** Starts a session of the same kind from a link. @throws GRAPH_MACHINE_GONE, and as `fork` */
export async function forkFrom<S extends LinkableSession>(session: S, link: Link): Promise<S> {
  try {
    const [fork] = (await session.fork(link.checkpoint)) as readonly S[];
    if (fork === undefined) throw new Error(`no session was forked from ${link.checkpoint}`);
    return fork;
  } catch (error) {
    throw goneOr(error, link);
  }
}

/** Says that a step has the machine of another session than the one at hand. */
export function otherSession({ id, name }: LinkableSession, link: Link): WaypointError {
  return new WaypointError(
    "GRAPH_MACHINE_GONE",
    `This step has the machine of session ${link.session}, and ${name} is linked, which has no such checkpoint.`,
    {
      hint: 'Link that session, or give { open }; { onMissing: "keep" } goes on with this one as it is.',
      detail: { session: link.session, checkpoint: link.checkpoint, linked: id },
    },
  );
}

/** Tells of what was removed in the words of who continues a graph. */
export function goneOr(error: unknown, { session, checkpoint }: Link): unknown {
  const isGone = (
    ["CHECKPOINT_NOT_FOUND", "CHECKPOINT_OF_OTHER_SESSION", "SESSION_NOT_FOUND"] as const
  ).some((code) => hasCode(error, code));
  if (!isGone) return error;
  return new WaypointError(
    "GRAPH_MACHINE_GONE",
    `The machine of this step is gone: checkpoint ${checkpoint} of session ${session}.`,
    {
      hint: 'Go on from a step that has its own (`history` lists them), or link with { onMissing: "keep" }.',
      detail: { session, checkpoint },
      cause: error,
    },
  );
}
