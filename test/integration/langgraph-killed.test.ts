import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { WaypointSaver } from "../../src/surfaces/langgraph/index.ts";
import { killedGraph, STEPS, THREAD } from "../support/graph-program.ts";

/** WAYPOINT_GRAPH_KILLS=200 is the long run. */
const KILLS = Number(process.env["WAYPOINT_GRAPH_KILLS"] ?? 30);
const PROGRAM = fileURLToPath(new URL("../support/graph-program.ts", import.meta.url));
const KILL_TIMEOUT_MS = 60_000;

test(
  `a graph killed ${KILLS} times is never inconsistent, and only its node in flight runs again`,
  async () => {
    const directory = mkdtempSync(path.join(tmpdir(), "waypoint-killed-"));
    const notesPath = path.join(directory, "notes");
    let [kills, threads, aloneMs] = [0, 0, 0];
    try {
      while (kills < KILLS) {
        const address = `sqlite:${path.join(directory, `${++threads}.sqlite`)}`;
        writeFileSync(notesPath, "");
        let killsHere = 0;
        for (;;) {
          const startedMs = performance.now();
          // A first run that nobody kills says how long one takes on this machine.
          const lifeMs = threads === 1 ? null : Math.random() * aloneMs;
          const isKilled = await run([address, notesPath], kills < KILLS ? lifeMs : null);
          if (threads === 1) aloneMs = performance.now() - startedMs;
          kills += isKilled ? 1 : 0;
          killsHere += isKilled ? 1 : 0;
          await expectConsistent(address, notesPath);
          if (!isKilled) break;
        }
        const runs = readFileSync(notesPath, "utf8").trim().split("\n").map(Number);
        expect(new Set(runs).size).toBe(STEPS);
        expect(runs.length - STEPS).toBeLessThanOrEqual(killsHere);
        // What ran again is what ran last: nothing before it.
        expect(runs.every((step, at) => step >= (runs[at - 1] ?? 0))).toBe(true);
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
  KILLS * KILL_TIMEOUT_MS,
);

/** Returns whether it was killed before its end. */
async function run(argv: readonly string[], lifeMs: number | null): Promise<boolean> {
  const child = spawn(process.execPath, [PROGRAM, ...argv], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = once(child, "exit") as Promise<[number | null, string | null]>;
  if (lifeMs !== null) {
    await Promise.race([ended, delay(lifeMs)]);
    child.kill("SIGKILL");
  }
  const [code, signal] = await ended;
  if (signal === null) expect(code).toBe(0);
  return signal !== null;
}

/** Every checkpoint is whole, and has what the steps up to it have made. */
async function expectConsistent(address: string, notesPath: string): Promise<void> {
  await using saver = await WaypointSaver.open(address);
  const graph = killedGraph(saver, notesPath);
  for await (const { values, metadata } of graph.getStateHistory(THREAD)) {
    const step = metadata?.step ?? -1;
    const done = Math.max(0, step);
    // Before the first step there is no log.
    expect(values["log"] ?? []).toEqual(Array.from({ length: done }, (_, index) => index));
    if (done > 0) expect(String(values["blob"]).startsWith(String(done - 1))).toBe(true);
  }
}
