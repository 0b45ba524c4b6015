import { expect, test, vi } from "vitest";
import { fakeEngine } from "../../../test/support/fake-engine.ts";
import { checkpointRow, sessionRow } from "../../../test/support/fake-rows.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { AutomaticVerifier } from "./automatic-verifier.ts";

const COMMAND = { verifyWords: '["npm test"]', verifyCommand: "npm test" };

/** A session with checkpoints `c1`, `c2` and so on, and what is run against which. */
function verifying(
  session: Partial<SessionRow>,
  count: number,
  {
    change = {},
    run = async () => {},
    idleMs = 0,
  }: {
    change?: Partial<CheckpointRow>;
    run?: (signal: AbortSignal) => Promise<void>;
    idleMs?: number;
  } = {},
) {
  const ran: string[] = [];
  let concurrency = 0;
  let concurrencyMax = 0;
  const verifications = {
    run: async ({ id }: CheckpointRow, signal: AbortSignal) => {
      ran.push(id);
      concurrency += 1;
      concurrencyMax = Math.max(concurrencyMax, concurrency);
      await run(signal).finally(() => {
        concurrency -= 1;
      });
      const facts = { exitCode: 0, durationMs: 1, at: "2026-01-01T00:00:00.000Z", timedOut: false };
      return { command: "npm test", ...facts, by: "verify", output: "", outputBytes: 0 };
    },
  };
  const { engine, logged } = fakeEngine({ verifications });
  engine.catalog.insertSession(sessionRow({ ...COMMAND, ...session, head: `c${count}` }));
  for (let number = 1; number <= count; number += 1) {
    const parent = number === 1 ? null : `c${number - 1}`;
    const createdAt = `2026-01-01T00:00:${String(number).padStart(2, "0")}.000Z`;
    const row = checkpointRow({ id: `c${number}`, parent, createdAt, trigger: "auto", ...change });
    engine.catalog.insertCheckpoint(row);
  }
  const verifier = new AutomaticVerifier(engine, idleMs);
  return { engine, verifier, ran, logged, concurrencyMax: () => concurrencyMax };
}

/** Resolves when nothing has begun for a while. */
async function settled(ran: readonly string[]): Promise<void> {
  for (let before = -1; before !== ran.length; ) {
    before = ran.length;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

test("automatic checkpoints are verified newest first, one at a time, each once", async () => {
  const { verifier, ran, concurrencyMax, engine } = verifying({}, 4);

  verifier.look();
  verifier.look();
  await vi.waitFor(() => expect(ran).toHaveLength(4));
  verifier.look();
  await settled(ran);

  expect(ran).toEqual(["c4", "c3", "c2", "c1"]);
  expect(concurrencyMax()).toBe(1);
  expect(engine.catalog.verifications.verdicts().get("c2")?.exitCode).toBe(0);
  await verifier.close();
});

test("somebody who is always at work puts a verification off for half a minute at most", async () => {
  vi.useFakeTimers();
  const { verifier, ran } = verifying({}, 1, { idleMs: 2_000 });
  try {
    for (let seconds = 0; seconds < 29; seconds += 1) {
      verifier.look();
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(ran).toEqual([]);

    verifier.look();
    await vi.advanceTimersByTimeAsync(1_000);

    expect(ran).toEqual(["c1"]);
  } finally {
    vi.useRealTimers();
    await verifier.close();
  }
});

test("of a long timeline only the newest twenty are", async () => {
  const { verifier, ran } = verifying({}, 24);

  verifier.look();
  await vi.waitFor(() => expect(ran).toHaveLength(20));
  await settled(ran);

  expect([ran[0], ran.at(-1), ran.length]).toEqual(["c24", "c5", 20]);
  await verifier.close();
});

test.each([
  ["without a verify command", { verifyWords: null, verifyCommand: null }, {}],
  ["with that turned off", { verifyAutomatic: "off" }, {}],
  ["with checkpoints of a person alone", {}, { trigger: "manual" as const }],
])("nothing is run of a session %s", async (_what, session, change) => {
  const { verifier, ran } = verifying(session, 2, { change });

  verifier.look();
  await settled(ran);

  expect(ran).toEqual([]);
  await verifier.close();
});

test("what could not be run is told and not tried again", async () => {
  const run = () => Promise.reject(new WaypointError("MEMORY_SHORT", "No memory."));
  const { verifier, ran, logged } = verifying({}, 2, { run });

  verifier.look();
  await vi.waitFor(() => expect(ran).toHaveLength(2));
  verifier.look();
  await settled(ran);

  expect(ran).toEqual(["c2", "c1"]);
  expect(logged).toEqual(["a checkpoint was not verified", "a checkpoint was not verified"]);
  await verifier.close();
});

test("its end waits for the one under way, and begins none", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { verifier, ran } = verifying({}, 2, { run: () => promise });
  verifier.look();
  await vi.waitFor(() => expect(ran).toHaveLength(1));
  let isClosed = false;

  const closing = verifier.close().then(() => {
    isClosed = true;
  });
  await settled(ran);
  expect(isClosed).toBe(false);
  resolve();
  await closing;
  verifier.look();
  await settled(ran);

  expect(ran).toEqual(["c2"]);
});

test("one under way is given up when the session's command is another, and the other is run", async () => {
  const run = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => {
      signal.addEventListener("abort", () => reject(new WaypointError("CANCELLED", "Given up.")));
    });
  const { engine, verifier, ran, logged } = verifying({}, 1, { run });
  const [session] = engine.catalog.sessions();
  verifier.look();
  await vi.waitFor(() => expect(ran).toHaveLength(1));

  verifier.abandon("another session");
  await settled(ran);
  expect(ran).toEqual(["c1"]);
  engine.catalog.updateSession(session?.id ?? "", {
    verifyWords: '["make"]',
    verifyCommand: "make",
  });
  verifier.abandon(session?.id ?? "");

  await vi.waitFor(() => expect(ran).toEqual(["c1", "c1"]));
  expect(logged).toEqual([]);
  await verifier.close();
});
