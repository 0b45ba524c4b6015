import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const ATTACHMENTS = 4;
const TYPED = "0123456789".repeat(8);
const BETWEEN_KEYS_MS = 2;
const WAIT_MS = 60_000;

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new();
  await session.exec("PS1='ready> '; cd /root; seq -f 'line %g' 500 > lines");
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

test("no key is lost that is typed into a pager while an attachment gives it the size", async () => {
  const first = await TestTerminal.attach(session, WAIT_MS);
  await first.type("less lines\r");
  await first.waitFor(/^line 1$/);
  await first[Symbol.asyncDispose]();

  for (let at = 1; at <= ATTACHMENTS; at += 1) {
    const terminal = await TestTerminal.attach(session, WAIT_MS);
    // less throws away what comes while it learns of a new size.
    for (const key of `/${TYPED}`) {
      await terminal.type(key);
      await delay(BETWEEN_KEYS_MS);
    }
    await terminal.waitFor(new RegExp(`^/${TYPED}$`));
    // The line is erased, and then left.
    await terminal.type("\u0015\u0008");
    await terminal.waitFor(/^:$/);
    await terminal[Symbol.asyncDispose]();
  }
});
