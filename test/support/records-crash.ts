import { expect } from "vitest";
import type { ThreadRecords } from "../../src/portable/records/index.ts";
import { hasCode } from "../../src/shared/errors/index.ts";

const LANES = [0, 1, 2, 3];
const PARTS = [0, 1, 2];
const ROUNDS = 3;
const STEPS_PER_ROUND = 40;
const STEP_MS_MAX = 120_000;
const VALUE_BYTES = 20_000;

/** A store's server that can be killed. */
export interface KillableServer {
  kill(): Promise<void>;
  start(): Promise<void>;
}

/**
 * Writes steps of three records from four sides, kills the server again and again in the middle of
 * it, and returns what is there in the end.
 */
export async function writeThroughCrashes(
  records: ThreadRecords,
  server: KillableServer,
): Promise<{ answered: ReadonlySet<string>; keys: ReadonlySet<string> }> {
  const answered = new Set<string>();
  let isEnding = false;
  const writeLane = async (lane: number) => {
    for (let at = 0; !isEnding; at += 1) {
      const keys = PARTS.map((part) => `${lane}/step${at}/${part}`);
      await writeUntilAnswered(records, `t${lane}`, keys);
      for (const key of keys) answered.add(key);
    }
  };
  const lanes = Promise.all(LANES.map(writeLane));
  lanes.catch(() => {});
  for (let round = 0; round < ROUNDS; round += 1) {
    const wanted = answered.size + STEPS_PER_ROUND * PARTS.length;
    const options = { timeout: STEP_MS_MAX, interval: 5 };
    await expect.poll(() => answered.size, options).toBeGreaterThan(wanted);
    await server.kill();
    await server.start();
  }
  isEnding = true;
  await lanes;

  const keys = new Set<string>();
  for (const lane of LANES) {
    const options = { prefix: "", limit: 1_000_000, isKeysOnly: true };
    for (const { key } of await records.scan(`t${lane}`, options)) keys.add(key);
  }
  return { answered, keys };
}

/** A server may take longer to start than a write waits for it. */
async function writeUntilAnswered(
  records: ThreadRecords,
  thread: string,
  keys: readonly string[],
): Promise<void> {
  const changes = keys.map((key) => ({ key, value: Buffer.alloc(VALUE_BYTES, key) }));
  const endsAtMs = performance.now() + STEP_MS_MAX;
  for (;;) {
    try {
      await records.write(thread, changes);
      return;
    } catch (error) {
      if (!hasCode(error, "STORE_UNREACHABLE") || performance.now() > endsAtMs) throw error;
    }
  }
}

/** Returns the steps of which some records are there and others are not. */
export function stepsInPart(keys: ReadonlySet<string>): string[] {
  const steps = new Set([...keys].map((key) => key.slice(0, key.lastIndexOf("/"))));
  return [...steps].filter((step) => PARTS.some((part) => !keys.has(`${step}/${part}`)));
}
