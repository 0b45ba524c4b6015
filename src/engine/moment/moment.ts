import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { ReadingCalls } from "../ports/index.ts";
import type { ReadingEngine } from "./reading-engine.ts";

/** What checkpoints and sessions have in common that readers need. */
export type Origin = Pick<
  CheckpointRow & SessionRow,
  "base" | "hostMounts" | "binds" | "user" | "cwd" | "shell" | "net"
>;

/**
 * One moment of a session as readers see it: a checkpoint, a live session, or a session that has
 * just been started from its base and has changed nothing yet.
 *
 * Open it with {@link openMoment} and the like; what it took from the store goes with it.
 */
export interface Moment extends AsyncDisposable {
  kind: "checkpoint" | "live" | "fresh";
  /** How messages and results call it: a checkpoint's id, a session's name, "fresh". */
  name: string;
  origin: Origin;
  /** Read-only btrfs subvolume with its files: `upper/`, `mounts/<n>/upper/` (docs/FORMAT.md). */
  subvolumePath: string;
  /** The root filesystem below them: the directory of its session's base. */
  baseDir: string;
  /** How its files are read. */
  calls: ReadingCalls;
  checkpoint: CheckpointRow | null;
  /** The session that lives; `null` for the other kinds. */
  session: SessionRow | null;
  /** Returns where CRIU's images are, or `null` when there are none. */
  imagesDir: () => string | null;
  /** Runs `load` once for each key, so that readers share what they decode. */
  once: <T>(key: string, load: () => Promise<T>) => Promise<T>;
}

/** A moment that a user named: a checkpoint, or a session as it is now. */
export type MomentRef = { checkpoint: CheckpointRow } | { session: SessionRow };

/** Opens what a user named. @throws CHECKPOINT_INCOMPLETE | FORMAT_TOO_NEW | STORE_FULL */
export async function openMoment(ref: MomentRef, engine: ReadingEngine): Promise<Moment> {
  return "checkpoint" in ref
    ? await openCheckpoint(ref.checkpoint, engine)
    : await openSession(ref.session, engine);
}

/** Opens a checkpoint. @throws CHECKPOINT_INCOMPLETE  its snapshot is gone. | FORMAT_TOO_NEW */
export async function openCheckpoint(row: CheckpointRow, engine: ReadingEngine): Promise<Moment> {
  if (row.heldBy !== null) return openHeld(row, row.heldBy, engine);
  engine.store.requireKnown(row.id);
  const paths = engine.store.checkpointPaths(row.id);
  if (!engine.store.snapshots.exists(paths.snapshotPath)) {
    throw new WaypointError("CHECKPOINT_INCOMPLETE", `The files of checkpoint ${row.id} are gone.`);
  }
  return {
    kind: "checkpoint",
    name: row.id,
    origin: row,
    subvolumePath: paths.snapshotPath,
    baseDir: engine.store.bases.directoryOf(row.base),
    calls: engine.fileCalls,
    checkpoint: row,
    session: null,
    imagesDir: () => (row.content === "full" ? engine.store.images.locate(paths) : null),
    once: remember(),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Opens a checkpoint that a frozen tree still is: its files stand still where that has them. */
function openHeld(row: CheckpointRow, instanceId: string, engine: ReadingEngine): Moment {
  const scratch = engine.store.snapshots.ofInstance(instanceId, engine.newId());
  return {
    kind: "checkpoint",
    name: row.id,
    origin: row,
    subvolumePath: scratch.subvolumePath,
    baseDir: engine.store.bases.directoryOf(row.base),
    calls: engine.fileCalls,
    checkpoint: row,
    session: null,
    imagesDir: () => null,
    once: remember(),
    [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose](),
  };
}

/** Opens a session as it is now: a snapshot of its files that goes when the moment is closed. */
async function openSession(session: SessionRow, engine: ReadingEngine): Promise<Moment> {
  if (session.instance === null) {
    throw new WaypointError("SESSION_WRONG_STATE", `Session ${session.name} has no files now.`, {
      hint: "Its checkpoints have; `waypoint log` lists them.",
    });
  }
  const scratch = engine.store.snapshots.ofInstance(session.instance, engine.newId());
  return {
    kind: "live",
    name: session.name,
    origin: session,
    subvolumePath: scratch.subvolumePath,
    baseDir: engine.store.bases.directoryOf(session.base),
    calls: engine.fileCalls,
    checkpoint: null,
    session,
    imagesDir: () => null,
    once: remember(),
    [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose](),
  };
}

function remember(): Moment["once"] {
  const known = new Map<string, Promise<unknown>>();
  return <T>(key: string, load: () => Promise<T>) => {
    const found = known.get(key) ?? load();
    known.set(key, found);
    return found as Promise<T>;
  };
}
