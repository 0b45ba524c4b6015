import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { expect, test } from "vitest";
import { doneOn, linkedLine } from "../support/linked-line.ts";
import { openTestWaypoint } from "../support/test-waypoint.ts";

const PROGRAM = fileURLToPath(new URL("../support/waiting-graph.ts", import.meta.url));
const T1 = { configurable: { thread_id: "t1" } };
const ALL = { files: "a b c", shell: "a b c" };

test("a run that one in another process has overtaken puts nothing more, and says so", async () => {
  await using own = await openTestWaypoint();
  const session = await own.waypoint.new({ name: "graph", net: "none" });
  const database = path.join(own.stateDir, "graph.sqlite");
  const goPath = path.join(own.stateDir, "go");
  const saver = SqliteSaver.fromConnString(database);
  const other = spawn(process.execPath, [PROGRAM, own.stateDir, "graph", database, goPath], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(other, "close");
  try {
    let said = "";
    other.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    await expect.poll(() => said, { timeout: 60_000 }).toBe("there\n");
    const { linked, graph } = linkedLine(saver, session);
    const result = await graph.invoke(null, T1);
    const newest = await linked.getTuple(T1);
    writeFileSync(goPath, "");
    await ended;

    expect(said).toBe("there\novertaken\n");
    expect(result).toEqual({ log: ["a", "b", "c"] });
    expect((await linked.getTuple(T1))?.checkpoint.id).toBe(newest?.checkpoint.id);
    expect(await doneOn(session)).toEqual(ALL);
  } finally {
    other.kill("SIGKILL");
    saver.db.close();
    await session.remove({ force: true });
  }
});
