import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  addCounted,
  type Counted,
  keepLargest,
  NOTHING_COUNTED,
  subtractCounted,
} from "./index.ts";
import { SqliteContacts } from "./sqlite/index.ts";

let dir: string;
let journal: SqliteContacts;

beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), "waypoint-contacts-"));
  journal = open();
});
afterEach(() => {
  journal[Symbol.dispose]();
  rmSync(dir, { recursive: true });
});

function open(): SqliteContacts {
  return new SqliteContacts({ isThere: () => true, path: () => path.join(dir, "contacts.sqlite") });
}

function counted(bytes: Record<string, number>, more = 0): Counted {
  const contacts = Object.entries(bytes).map(([address, sentBytes]) => ({
    ...{ address, protocol: "tcp", port: 443, sentBytes, receivedBytes: 0 },
  }));
  return { contacts, more: { sentBytes: more, receivedBytes: 0 } };
}

test("what came between two counts, of counters that began anew as well", () => {
  const since = subtractCounted(counted({ a: 5, b: 7, c: 2 }, 9), counted({ a: 5, b: 3, c: 8 }, 4));
  expect(since).toEqual(counted({ b: 4, c: 2 }, 5));
  expect(addCounted([counted({ a: 1 }, 1), counted({ a: 2, b: 1 })])).toEqual(
    counted({ a: 3, b: 1 }, 1),
  );
  expect(keepLargest(counted({ a: 1, b: 3, c: 2 }), 1)).toEqual(counted({ b: 3 }, 3));
});

test("intervals belong to the checkpoint that comes next, and a session has all of them", () => {
  const note = (instance: string, at: string, since: Counted) =>
    journal.note({ session: "s1", instance, at, since }, since);
  note("s1-1", "2026-01-01", counted({ a: 1 }));
  note("s1-1", "2026-01-02", counted({ b: 2 }));
  const until = "2026-01-02";
  note("s1-1", "2026-01-03", counted({ c: 8 }));
  journal.capture("s1-1", { id: "c1", until }, ({ contacts }) => `${contacts.length} contacts`);
  note("s1-2", "2026-01-03", counted({ a: 4 }));
  journal.capture("s1-3", { id: "c2", until: "2026-01-04" }, () => "none");

  expect(journal.of("c1")).toEqual(counted({ a: 1, b: 2 }));
  expect(journal.of("c2")).toEqual(NOTHING_COUNTED);
  expect(journal.after("s1", "2026-01-01")).toEqual(counted({ b: 2, c: 8, a: 4 }));
  expect([...journal.briefs()]).toEqual([["c1", "2 contacts"]]);
  // What was counted behind the capture is of the next one.
  journal.capture("s1-1", { id: "c3", until: "2026-01-04" }, () => "one");
  expect(journal.of("c3")).toEqual(counted({ c: 8 }));
  journal[Symbol.dispose]();
  journal = open();
  expect(journal.countedOf("s1-1")).toEqual(counted({ c: 8 }));
  journal.forgetInstance("s1-1");
  expect(journal.countedOf("s1-1")).toEqual(NOTHING_COUNTED);
  journal.remove("s1");
  expect([...journal.briefs()]).toEqual([]);
  expect(journal.after("s1", "")).toEqual(NOTHING_COUNTED);
});

test("the newest name of an address comes first, and the oldest go where there are too many", () => {
  journal.learn("s1", [{ name: "old.example.com", addresses: ["192.0.2.7"] }]);
  journal.learn("s1", [{ name: "new.example.com", addresses: ["192.0.2.7", "192.0.2.8"] }]);
  journal.learn("s2", [{ name: "other.example.com", addresses: ["192.0.2.7"] }]);
  expect(journal.namesOf("s1").get("192.0.2.7")).toEqual(["new.example.com", "old.example.com"]);

  const many = Array.from({ length: 4096 }, (_, at) => ({
    name: `n${at}`,
    addresses: ["10.0.0.1"],
  }));
  journal.learn("s1", many);
  expect(journal.namesOf("s1").get("192.0.2.7")).toBeUndefined();
  expect(journal.namesOf("s1").get("10.0.0.1")).toHaveLength(4096);
  expect(journal.namesOf("s2").size).toBe(1);
});
