import type { CheckpointRow, SessionRow } from "../../src/portable/model/index.ts";
import { WaypointError } from "../../src/shared/errors/index.ts";
import { type FakeEngine, fakeEngine, type Step } from "./fake-engine.ts";
import { checkpointRow, sessionRow } from "./fake-rows.ts";

/** A running session that stands on the checkpoint `c2`, after `c1`. */
export const SESSION = sessionRow({ head: "c2" });
/** The same on the host's network. */
export const ON_HOST = sessionRow({ head: "c2", net: "host" });
/** The same with a directory of the host. */
export const WITH_BIND = sessionRow({
  head: "c2",
  binds: [{ source: "/data", target: "/mnt", readOnly: false }],
});

/** Returns the checkpoints of such a session, `c1` and `c2`. */
export function checkpointsOf({ net, binds }: SessionRow): [CheckpointRow, CheckpointRow] {
  return [checkpointRow({ net, binds }), checkpointRow({ net, binds, id: "c2", parent: "c1" })];
}

/** Builds an engine of fakes in which a session runs, as the process tree 70. */
export function engineWithSession(
  session: SessionRow,
  change?: Parameters<typeof fakeEngine>[0],
): FakeEngine {
  const fake = fakeEngine(change);
  const { catalog, live } = fake.engine;
  catalog.insertSession(session);
  catalog.insertInstance({ id: "s1-1", session: "s1", pid: 70, startTicks: 7 });
  for (const row of checkpointsOf(session)) catalog.insertCheckpoint(row);
  live.set(fake.live("s1", "s1-1"));
  fake.steps.forget();
  return fake;
}

/**
 * Does something as an operation does, which holds the session's lease.
 *
 * @param cancelAt  when this step is asked for, the operation is cancelled.
 */
export async function underLease<T>(
  { engine, steps }: FakeEngine,
  work: () => Promise<T>,
  cancelAt?: Step,
): Promise<T> {
  const controller = new AbortController();
  const cancelled = new WaypointError("CANCELLED", "No longer wanted.");
  if (cancelAt !== undefined) steps.during(cancelAt, () => controller.abort(cancelled));
  return await engine.leases.run("s1", work, controller.signal);
}
