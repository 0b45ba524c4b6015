import { expect, test } from "vitest";
import { checkpointRow } from "../../../../test/support/fake-rows.ts";
import type { OperationRow } from "../../../portable/model/index.ts";
import type { OperationDetail } from "../../../shared/protocol/index.ts";
import type { MomentPair, ReadContext } from "../../moment/index.ts";
import { fileOperationsBetween } from "./file-operations.ts";

const AT = Date.parse("2026-01-02T03:00:00.000Z");
const OF_FILES = detail({ parts: { only: "files", paths: [], except: [] } });

function detail(change: Partial<OperationDetail>): OperationDetail {
  return { state: "done", put: 1, removed: 0, parts: null, since: null, undoes: null, ...change };
}

function at(minute: number): string {
  return new Date(AT + minute * 60_000).toISOString();
}

function done(minute: number, kind: OperationRow["kind"], change: Partial<OperationRow> = {}) {
  return {
    ...{ id: minute, session: "s1", kind, checkpoint: "c9", undo: null, at: at(minute) },
    ...{ readyMs: 20, detail: null, stateBefore: null, ...change },
  } satisfies OperationRow;
}

/** What is found between a checkpoint of minute 10 and one of minute 20. */
function between(operations: readonly OperationRow[]): string[] {
  const moment = (minute: number) => ({ checkpoint: checkpointRow({ createdAt: at(minute) }) });
  const pair = { from: moment(10), to: moment(20) } as unknown as MomentPair;
  const catalog = { operations: { all: () => operations } };
  const context = { engine: { catalog } } as unknown as ReadContext;
  return fileOperationsBetween(pair, context).map(({ text }) => text);
}

test("what put files under a session's programs is found, between the two moments alone", () => {
  const revert = done(13, "revert", { detail: { ...OF_FILES, since: "c8" } });
  const undo = done(14, "undo", { detail: { ...OF_FILES, undoes: 13 } });
  const restore = done(12, "restore", { detail: OF_FILES });

  expect(between([done(9, "merge"), done(11, "merge"), restore, revert, undo])).toEqual([
    "merge of c9",
    "restore of files from c9",
    "revert of c9..c8",
    "undo of operation 13",
  ]);
  expect(between([done(21, "merge")])).toEqual([]);
});

test("what was on a branch that was left is not, nor is what changed no files", () => {
  expect(between([done(11, "merge"), done(12, "restore")])).toEqual([]);
  expect(between([done(11, "restore"), done(12, "merge")])).toEqual(["merge of c9"]);
  const ofState = detail({ parts: { only: "state", paths: [], except: [] } });
  expect(between([done(11, "merge"), done(12, "undo", { detail: ofState })])).toEqual([
    "merge of c9",
  ]);
  expect(between([done(11, "apply"), done(12, "stop")])).toEqual([]);
  const interrupted = { ...OF_FILES, state: "interrupted" } as const;
  expect(between([done(11, "revert", { detail: interrupted })])).toEqual([]);
});
