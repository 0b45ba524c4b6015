import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  beginCompensation,
  beginEffect,
  type EffectBegin,
  endCompensation,
  endEffect,
  hashInput,
  settleEffect,
} from "./index.ts";
import { SqliteEffects } from "./sqlite/index.ts";

let directory: string;
let journal: SqliteEffects;
const alive = new Set<number>();
const world = {
  now: () => "2026-01-02T03:04:05.678Z",
  isAlive: ({ pid }: { pid: number }) => alive.has(pid),
};
const BEGIN: EffectBegin = {
  ...{ session: "s1", key: "charge-17", inputHash: hashInput({ amount: 12 }), what: "charge" },
  ...{
    irreversible: true,
    compensate: null,
    compensatedByProgram: false,
    owner: { pid: 7, startTicks: 1 },
  },
};
const END = { session: "s1", key: "charge-17", attempt: 1, state: "done", outcome: '{"id":3}' };
const failsWith = (code: string) => expect.objectContaining({ code });
const open = () => SqliteEffects.open(path.join(directory, "effects.sqlite"));

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-effects-"));
  journal = open();
  alive.clear();
});

afterEach(() => {
  journal[Symbol.dispose]();
  rmSync(directory, { recursive: true });
});

test("what was done is not done again: its outcome is there, also when the file is opened anew", () => {
  expect(beginEffect(journal, BEGIN, world)).toEqual({ kind: "do", attempt: 1 });
  endEffect(journal, END as never, world);
  journal[Symbol.dispose]();
  journal = open();

  expect(beginEffect(journal, BEGIN, world)).toMatchObject({
    ...{ kind: "recorded", effect: { state: "done", outcome: '{"id":3}', attempts: 1 } },
  });
});

test("the same key with another input is a conflict", () => {
  beginEffect(journal, BEGIN, world);
  const other = { ...BEGIN, inputHash: hashInput({ amount: 13 }) };

  expect(() => beginEffect(journal, other, world)).toThrow(failsWith("EFFECT_CONFLICT"));
});

test("while who began it lives nobody else does it; when that one is gone, nobody knows", () => {
  alive.add(7);
  beginEffect(journal, BEGIN, world);
  expect(() => beginEffect(journal, BEGIN, world)).toThrow(failsWith("EFFECT_RUNNING"));
  const found = { session: "s1", key: "charge-17", state: "failed", outcome: null } as const;
  expect(() => settleEffect(journal, found, world)).toThrow(failsWith("EFFECT_RUNNING"));
  alive.delete(7);
  expect(() => beginEffect(journal, BEGIN, world)).toThrow(failsWith("EFFECT_UNKNOWN"));

  settleEffect(journal, found, world);
  expect(beginEffect(journal, BEGIN, world)).toEqual({ kind: "do", attempt: 2 });
  // What the first one says now is of no attempt that is under way.
  expect(() => endEffect(journal, END as never, world)).toThrow(failsWith("EFFECT_NOT_FOUND"));
});

test("one that failed may be tried again, and an end that is told twice counts once", () => {
  beginEffect(journal, BEGIN, world);
  endEffect(journal, { ...END, state: "failed", outcome: "refused" } as never, world);
  endEffect(journal, END as never, world);
  expect(journal.get("s1", "charge-17")).toMatchObject({ state: "failed", outcome: "refused" });
  expect(beginEffect(journal, BEGIN, world)).toEqual({ kind: "do", attempt: 2 });
});

test("what was taken back is done anew, what could not be is still done", () => {
  beginEffect(journal, BEGIN, world);
  const which = { session: "s1", key: "charge-17", owner: { pid: 8, startTicks: 1 } };
  expect(() => beginCompensation(journal, which, world)).toThrow(failsWith("EFFECT_UNKNOWN"));
  endEffect(journal, END as never, world);
  beginCompensation(journal, which, world);
  expect(() => beginEffect(journal, BEGIN, world)).toThrow(failsWith("EFFECT_UNKNOWN"));
  expect(() => beginCompensation(journal, which, world)).toThrow(failsWith("EFFECT_UNKNOWN"));
  expect(endCompensation(journal, { ...which, error: "refused" }, world)).toMatchObject({
    ...{ state: "done", compensationError: "refused", outcome: '{"id":3}' },
  });
  beginCompensation(journal, which, world);
  expect(endCompensation(journal, { ...which, error: null }, world).state).toBe("compensated");
  expect(() => beginCompensation(journal, which, world)).toThrow(failsWith("EFFECT_NOT_FOUND"));
  expect(() => endCompensation(journal, { ...which, error: null }, world)).toThrow(
    failsWith("EFFECT_NOT_FOUND"),
  );
  expect(beginEffect(journal, BEGIN, world)).toEqual({ kind: "do", attempt: 2 });
});

test("a fork's copies are its own, and those of a session that goes are forgotten", () => {
  beginEffect(journal, BEGIN, world);
  endEffect(journal, END as never, world);
  journal.copy("s1", "s2");
  beginEffect(journal, { ...BEGIN, session: "s2", key: "other" }, world);
  journal.remove("s1");

  expect(journal.of("s1")).toEqual([]);
  expect(journal.of("s2").map(({ key, state }) => [key, state])).toEqual([
    ["charge-17", "done"],
    ["other", "begun"],
  ]);
});

test("equal inputs have one hash, in whatever order; what is left out is as if it were not there", () => {
  expect(hashInput({ a: 1, b: [2, { c: null }] })).toBe(hashInput({ b: [2, { c: null }], a: 1 }));
  expect(hashInput({ a: 1, b: undefined })).toBe(hashInput({ a: 1 }));
  expect(hashInput(undefined)).toBe(hashInput(null));
  expect(hashInput(["a", "b"])).not.toBe(hashInput(["b", "a"]));
  expect(hashInput({ a: "1" })).not.toBe(hashInput({ a: 1 }));
});
