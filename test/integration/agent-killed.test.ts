import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { OUTSIDE, TASKS } from "../support/task-agent.ts";
import { eventually, openTestWaypoint } from "../support/test-waypoint.ts";

/** WAYPOINT_AGENT_KILLS=200 is the long run. */
const KILLS = Number(process.env["WAYPOINT_AGENT_KILLS"] ?? 30);
const PROGRAM = fileURLToPath(new URL("../support/task-agent.ts", import.meta.url));
const WORK_MS = 150;
/** A kill and a start of the agent, on a machine that is busy with other tests. */
const KILL_MS_MAX = 8_000;

test(
  `an agent of ${TASKS} tasks, killed ${KILLS} times: each task once, each effect once or unknown`,
  async () => {
    const asked = new Map<string, number>();
    const server = createServer((request, response) => {
      const id = `${request.url}`.slice(1);
      asked.set(id, (asked.get(id) ?? 0) + 1);
      response.end(`answer ${id}`);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    await using own = await openTestWaypoint();
    let [kills, rounds] = [0, 0];
    try {
      while (kills < KILLS) {
        rounds += 1;
        asked.clear();
        const session = await own.waypoint.new({ name: `agent${rounds}`, net: "none" });
        for (;;) {
          const ended = await runAgent([own.stateDir, session.name, url], kills < KILLS);
          if (ended === "done") break;
          if (ended === "killed") kills += 1;
          // What the agent had sent before it died still arrives.
          await eventually(
            "the end of its connections",
            () => openConnections(server),
            (n) => n === 0,
          );
          await settle(session, asked);
        }
        await check(session, asked);
        await session.remove({ force: true });
      }
    } finally {
      server.close();
    }
  },
  KILLS * KILL_MS_MAX,
);

async function openConnections(server: Server): Promise<number> {
  return await promisify(server.getConnections.bind(server))();
}

async function check(session: Session, asked: ReadonlyMap<string, number>): Promise<void> {
  const tasks = await session.tasks.list();
  expect(tasks.map(({ status }) => status)).toEqual(Array(TASKS).fill("completed"));
  for (const id of OUTSIDE) expect(asked.get(String(id)), `task ${id}`).toBe(1);
  expect(tasks[1]?.result).toBe("answer 2");
  expect(await session.state.get("conversation")).toEqual(tasks.map(({ id }) => `did ${id}`));
}

/** Looks outside, as a person would, and says what was found. */
async function settle(session: Session, asked: ReadonlyMap<string, number>): Promise<void> {
  const unknown = (await session.effects()).filter(({ state }) => state === "unknown");
  for (const { key } of unknown) {
    const id = key.slice("ask-".length);
    const isDone = asked.has(id);
    await session.settleEffect(key, isDone ? { outcome: `answer ${id}` } : null);
  }
}

async function runAgent(
  words: readonly string[],
  isKilled: boolean,
): Promise<"done" | "killed" | "unknown"> {
  const agent = spawn(process.execPath, [PROGRAM, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(agent, "close");
  let errors = "";
  agent.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  if (isKilled) {
    // From its first task on; one that has ended by then is not killed any more.
    await Promise.race([once(agent.stdout, "data"), ended]);
    await Promise.race([delay(Math.random() * WORK_MS), ended]);
    agent.kill("SIGKILL");
  }
  const [code, signal] = (await ended) as [number | null, string | null];
  if (signal === "SIGKILL") return "killed";
  if (code === 0) return "done";
  if (code === 3) return "unknown";
  throw new Error(`the agent ended with ${code}: ${errors}`);
}
