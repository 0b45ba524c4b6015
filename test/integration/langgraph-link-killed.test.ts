import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { expect, test } from "vitest";
import type { Session, Waypoint } from "../../src/index.ts";
import { STEPS, THREAD } from "../support/graph-agent.ts";
import { openTestWaypoint } from "../support/test-waypoint.ts";

/** WAYPOINT_GRAPH_KILLS=200 is the long run. */
const KILLS = Number(process.env["WAYPOINT_GRAPH_KILLS"] ?? 20);
const PROGRAM = fileURLToPath(new URL("../support/graph-agent.ts", import.meta.url));
/** How many lines of it are awaited at most, one for each node that begins, and how long after that. */
const LINES_MAX = 5;
const MOMENT_MS = 150;
const ALL = STEPS.flat().sort().join("");

test(`a graph killed ${KILLS} times has at each step its own machine, and does each node once`, async () => {
  await using own = await openTestWaypoint();
  let [kills, rounds] = [0, 0];
  const found = new Set<number>();
  while (kills < KILLS) {
    rounds += 1;
    const session = await own.waypoint.new({ name: `graph${rounds}`, net: "none" });
    await session.exec("mkdir -p /srv/done; touch /srv/log; DONE=");
    const database = path.join(own.stateDir, `${session.name}.sqlite`);
    while (await runGraph([own.stateDir, session.name, database], kills < KILLS)) {
      kills += 1;
      found.add(await requireSameMoment(own.waypoint, database));
    }
    await requireSameMoment(own.waypoint, database);
    await requireDone(session);
    await session.remove({ force: true });
  }
  // The kills have come at different steps.
  expect(found.size).toBeGreaterThan(2);
}, 3_600_000);

/** Checks that the machine of each checkpoint has done what the graph has; returns how far it has come. */
async function requireSameMoment(waypoint: Waypoint, database: string): Promise<number> {
  const saver = SqliteSaver.fromConnString(database);
  let newest = 0;
  try {
    const ofGraph = { configurable: { ...THREAD.configurable, checkpoint_ns: "" } };
    for await (const { checkpoint, metadata } of saver.list(ofGraph)) {
      const { log = [] } = checkpoint.channel_values as { log?: string[] };
      newest = Math.max(newest, log.length);
      const { waypoint: link } = metadata as never as { waypoint: { checkpoint: string } };
      const bytes = [];
      for await (const piece of waypoint.cat(link.checkpoint, "/srv/log")) bytes.push(piece);
      const machine = Buffer.concat(bytes).toString().trim().split("\n").sort().join("");
      expect(machine, describe(checkpoint, metadata)).toBe([...log].sort().join(""));
    }
  } finally {
    saver.db.close();
  }
  return newest;
}

function describe({ id }: CheckpointTuple["checkpoint"], metadata: CheckpointTuple["metadata"]) {
  return `checkpoint ${id}, ${metadata?.source} ${metadata?.step}`;
}

async function requireDone(session: Session): Promise<void> {
  const { stdout } = await session.exec('sort /srv/log | tr -d "\\n"; echo " $DONE"');
  const alone = STEPS.filter(({ length }) => length === 1).flat();
  expect(stdout.trim()).toBe(`${ALL} ${alone.join("")}`);
}

/** Runs the graph until it ends or is killed; returns whether it was killed. */
async function runGraph(words: readonly string[], isKilled: boolean): Promise<boolean> {
  const agent = spawn(process.execPath, [PROGRAM, ...words], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(agent, "close");
  let errors = "";
  agent.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  if (isKilled) {
    const lines = Math.ceil(Math.random() * LINES_MAX);
    await Promise.race([untilLines(agent.stdout, lines), ended]);
    await Promise.race([delay(Math.random() * MOMENT_MS), ended]);
    agent.kill("SIGKILL");
  }
  const [code, signal] = (await ended) as [number | null, string | null];
  if (signal === "SIGKILL") return true;
  expect({ code, errors }).toEqual({ code: 0, errors: "" });
  return false;
}

async function untilLines(stdout: Readable, count: number): Promise<void> {
  let text = "";
  while (text.split("\n").length <= count) {
    const [chunk] = (await once(stdout, "data")) as [Buffer];
    text += chunk.toString();
  }
}
