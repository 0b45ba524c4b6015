import { toText } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Applied } from "../../shared/protocol/index.ts";
import { Target } from "../changes/index.ts";
import { Root, requireDirectory } from "../files/index.ts";
import type { Engine, StreamClient } from "../ports/index.ts";
import { requireLive } from "../session/index.ts";
import { putBack, resume } from "./carry-out.ts";
import { describePlan } from "./describe-plan.ts";
import { type Destination, Journal, type JournalRecord } from "./journal.ts";
import { noteDone } from "./note-done.ts";

/**
 * Refuses to begin while an earlier one is half-way; of one that had only begun to be prepared,
 * what it has left is removed.
 *
 * @throws APPLY_UNFINISHED
 */
export async function requireNoneUnfinished(
  journal: Journal,
  client: StreamClient,
  engine: Engine,
): Promise<void> {
  for (const record of await journal.list()) {
    if (record.state === "staging") {
      await withTarget(record.destination, client, engine, (target) => putBack(record, target));
      await journal.remove(record.id);
    } else if (isUnfinished(record)) {
      throw new WaypointError(
        "APPLY_UNFINISHED",
        `The ${record.kind} of ${record.checkpoint} was interrupted half-way.`,
        {
          hint: "`waypoint apply --continue` completes it, `waypoint apply --abort` puts all back.",
          detail: { checkpoint: record.checkpoint, at: record.at, kind: record.kind },
        },
      );
    }
  }
}

/**
 * Completes what was interrupted, from what lies beside the files; the checkpoint is not needed.
 *
 * @throws APPLY_NOT_FOUND | APPLY_CONFLICT  a path was changed since: put back what was done.
 */
export async function continueUnfinished(client: StreamClient, engine: Engine): Promise<Applied> {
  const journal = new Journal(engine.settings.layout.storeDir);
  const record = await findUnfinished(journal);
  if (record.state === "staging") return await abortUnfinished(client, engine);
  return await withTarget(record.destination, client, engine, async (target) => {
    const done = await resume(record, target, journal);
    const operation = await noteDone(done, journal, engine.catalog);
    return { ...describeRecord(record), isDone: true, operation };
  });
}

/** Puts back what an interrupted one had done. @throws APPLY_NOT_FOUND */
export async function abortUnfinished(client: StreamClient, engine: Engine): Promise<Applied> {
  const journal = new Journal(engine.settings.layout.storeDir);
  const record = await findUnfinished(journal);
  if (record.state === "finishing") {
    throw new WaypointError("APPLY_NOT_FOUND", "All is written already; only its end is missing.", {
      hint: "`waypoint apply --continue`, then `waypoint apply --undo` takes it back.",
    });
  }
  return await withTarget(record.destination, client, engine, async (target) => {
    const left = await putBack(record, target);
    if (left.length === 0) await journal.remove(record.id);
    else await journal.write({ ...record, state: "put-back" });
    return { ...describeRecord({ ...record, steps: [] }), notes: left, noteCount: left.length };
  });
}

/** Opens where work was taken to, as the client sees it. */
export async function withTarget<T>(
  destination: Destination,
  client: StreamClient,
  engine: Engine,
  use: (target: Target) => Promise<T>,
): Promise<T> {
  if (destination.kind === "session") {
    const session = engine.catalog.session(destination.session);
    if (session === undefined) {
      throw new WaypointError("SESSION_NOT_FOUND", "The session that was merged into is gone.");
    }
    using root = Root.of(requireLive(session, engine).pid, engine.fileCalls);
    return await use(new Target(root.fd, engine.fileCalls));
  }
  using root = Root.of(client.pid, engine.fileCalls);
  using directory = requireDirectory(root, destination.directory, "on this machine");
  return await use(new Target(directory.fd, engine.fileCalls));
}

function isUnfinished({ state }: JournalRecord): boolean {
  return state === "staging" || state === "committing" || state === "finishing";
}

async function findUnfinished(journal: Journal): Promise<JournalRecord> {
  const record = (await journal.list()).find(isUnfinished);
  if (record !== undefined) return record;
  throw new WaypointError("APPLY_NOT_FOUND", "No apply or merge was interrupted.", {
    hint: "`waypoint log` lists what was done.",
  });
}

function describeRecord(record: JournalRecord): Applied {
  const { destination, checkpoint } = record;
  const steps = record.steps.map((step) => ({ ...step, merged: null }));
  const target =
    destination.kind === "machine" ? toText(destination.directory) : destination.session;
  const plan = describePlan({ steps, conflicts: [], notes: [], sameCount: 0 });
  return { ...plan, target, checkpoint, isDone: false, operation: null };
}
