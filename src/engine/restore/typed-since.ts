import { ancestry } from "../../portable/lineage/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { RestorePlan } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import { readStory } from "../story/index.ts";

/** Stories that are read for one plan; what was typed before them is told by a reason. */
const STORIES_MAX = 200;

/** Lines that were typed, oldest first, and why not all are told. */
export interface TypedSince {
  typed: NonNullable<RestorePlan["commands"]>;
  unknown: string[];
}

/**
 * Returns the lines that were typed in a session since a checkpoint.
 *
 * They are in the memory of the session's first process, which a checkpoint captures: its story
 * tells them. Of keys that came after the newest checkpoint only that is known.
 */
export async function typedSince(
  session: SessionRow,
  target: CheckpointRow,
  engine: Engine,
): Promise<TypedSince> {
  const behind = new Set(ancestry(target.id, engine.catalog).map(({ id }) => id));
  const since = ancestry(session.head, engine.catalog).filter(({ id }) => !behind.has(id));
  const read = since.slice(0, STORIES_MAX).toReversed();
  const stories = await Promise.all(read.map((row) => readStory(row, engine)));
  const typed = stories.flatMap(({ commands }) =>
    (commands ?? [])
      .filter(({ by }) => by === "terminal")
      .map(({ command, by, startedAt, durationMs, exitCode }) => ({
        ...{ command, by, startedAt, durationMs, exitCode },
      })),
  );
  const untold = since.length - read.length;
  const reasons = untold === 0 ? [] : [`what was typed until ${read[0]?.id} is not listed`];
  return { typed, unknown: [...reasons, ...keysSince(session, engine)] };
}

function keysSince({ id, head }: SessionRow, { catalog, typing }: Engine): string[] {
  const lastKeyAtMs = typing.lastKeyAtMs(id);
  const newest = head === null ? undefined : catalog.checkpoint(head);
  const isSince = lastKeyAtMs !== null && lastKeyAtMs > Date.parse(newest?.createdAt ?? "");
  return isSince ? ["what was typed since the last checkpoint is not listed"] : [];
}
