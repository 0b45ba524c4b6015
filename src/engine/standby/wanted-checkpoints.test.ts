import { expect, test } from "vitest";
import { checkpointRow, sessionRow } from "../../../test/support/fake-rows.ts";
import { engineWithSession, SESSION } from "../../../test/support/fake-session.ts";
import type { CheckpointRow } from "../../portable/model/index.ts";
import type { StandbyPolicy } from "../../shared/protocol/index.ts";
import { wantedCheckpoints } from "./wanted-checkpoints.ts";

const AT = "2026-02-03T04:05:06.789Z";

/** Builds a session on a line of four checkpoints, `c1` to `c4`. */
function onALine(policy: StandbyPolicy, change: Partial<CheckpointRow> = {}) {
  const fake = engineWithSession(SESSION);
  const { engine } = fake;
  engine.settings.standby = { policy, budgetBytes: 0, reserveBytes: 0 };
  engine.catalog.insertCheckpoint(checkpointRow({ id: "c3", parent: "c2", ...change }));
  engine.catalog.insertCheckpoint(checkpointRow({ id: "c4", parent: "c3" }));
  engine.catalog.updateSession("s1", { head: "c4" });
  const wanted = () => wantedCheckpoints(engine).map(({ id }) => id);
  return { ...fake, wanted };
}

/** Notes a restore, which an undo would take back to `undo`. */
function noteRestore({ engine }: ReturnType<typeof onALine>, undo: string, only?: "files") {
  const parts = { only: only ?? null, paths: [], except: [] };
  engine.catalog.operations.insert({
    ...{ session: "s1", kind: "restore", checkpoint: "c4", undo, at: AT, readyMs: 1 },
    ...{ stateBefore: "running" },
    detail: { parts, since: null, undoes: null, state: "done", put: 0, removed: 0 },
  });
}

test.each<[StandbyPolicy, string[]]>([
  ["off", []],
  ["head", ["c4"]],
  ["3", ["c4", "c3", "c2"]],
])("the policy %s wants %j", (policy, ids) => {
  expect(onALine(policy).wanted()).toEqual(ids);
});

test("what an undo goes back to comes after the head, and once", () => {
  const line = onALine("3");
  noteRestore(line, "c2");

  expect(line.wanted()).toEqual(["c4", "c2", "c3"]);
});

test("an undo that puts files back alone needs no standby", () => {
  const line = onALine("head");
  noteRestore(line, "c1", "files");

  expect(line.wanted()).toEqual(["c4"]);
});

test.each<[string, Partial<CheckpointRow>]>([
  ["has files alone", { content: "files" }],
  ["is held by a frozen tree", { heldBy: "s1-0" }],
  ["is on the host's network", { net: "host" }],
  ["has a directory of the host", { binds: [{ source: "/a", target: "/b", readOnly: false }] }],
])("a checkpoint that %s is left out", (_what, change) => {
  expect(onALine("3", change).wanted()).toEqual(["c4", "c2"]);
});

test("sessions that do not run want none, and the one that moved last comes first", () => {
  const { engine, live, wanted } = onALine("head");
  for (const [id, createdAt] of [["s2", AT] as const, ["s3", AT] as const]) {
    engine.catalog.insertSession(sessionRow({ id, name: id, head: `${id}c`, instance: `${id}-1` }));
    engine.catalog.insertCheckpoint(checkpointRow({ id: `${id}c`, session: id, createdAt }));
  }
  engine.live.set(live("s2", "s2-1"));

  expect(wanted()).toEqual(["s2c", "c4"]);
});
