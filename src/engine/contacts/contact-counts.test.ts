import { existsSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { FakeEngine } from "../../../test/support/fake-engine.ts";
import { engineWithSession, SESSION } from "../../../test/support/fake-session.ts";
import type { Counted } from "../../portable/contacts/index.ts";
import { SqliteContacts } from "../../portable/contacts/sqlite/index.ts";
import { ContactCounts } from "./contact-counts.ts";

let directory: string;
let fake: FakeEngine;
let book: ContactCounts;

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-counts-"));
  const file = () => path.join(directory, "contacts.sqlite");
  fake = engineWithSession(SESSION);
  fake.steps.answer("network.contacts.sentPackets", () => null);
  fake.engine.catalog.updateInstance("s1-1", { address: "10.0.0.2" });
  const journal = new SqliteContacts({ isThere: () => existsSync(file()), path: file });
  book = new ContactCounts(fake.engine, journal);
});

afterEach(() => {
  book.close();
  rmSync(directory, { recursive: true });
});

function counted(sentBytes: number): Counted {
  const contact = { address: "192.0.2.7", protocol: "tcp", port: 443, sentBytes, receivedBytes: 0 };
  return { contacts: [contact], more: { sentBytes: 0, receivedBytes: 0 } };
}

/** Answers the next looks at the counters, in order. */
function answerLooks(...answers: Promise<Counted>[]) {
  fake.steps.answer("network.contacts.read", async () => await answers.shift());
}

const sentOf = async () => (await book.since(SESSION, null)).contacts.map((each) => each.sentBytes);

test("a look that began before another one was noted counts nothing twice", async () => {
  const slow = Promise.withResolvers<Counted>();
  answerLooks(slow.promise, Promise.resolve(counted(30)), Promise.resolve(counted(30)));
  const first = book.settle("s1-1", null);
  const begun = Date.now();
  while (Date.now() === begun);

  await book.settle("s1-1", null);
  slow.resolve(counted(10));
  await first;

  expect(await sentOf()).toEqual([30]);
});

test("what cannot be read is logged, and no instance has no contacts", async () => {
  answerLooks(Promise.reject(new Error("no counters")));

  await book.settle("s1-1", "c1");
  await book.settle(null, "c1");

  expect(fake.logged).toEqual(["read whom a session talked to"]);
});
