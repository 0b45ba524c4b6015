import { existsSync } from "node:fs";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { hasCode, Waypoint } from "../../src/index.ts";
import { linkedLine } from "./linked-line.ts";

/** A run whose node b says that it is there, waits for a file of the host, and tells how the run ended. */
const [stateDir = "", name = "", database = "", goPath = ""] = process.argv.slice(2);
const WAIT_MS = 50;

const waypoint = await Waypoint.open({ stateDir });
const session = await waypoint.session(name);
const waiting = async () => {
  process.stdout.write("there\n");
  while (!existsSync(goPath)) await delay(WAIT_MS);
};
const { graph } = linkedLine(SqliteSaver.fromConnString(database), session, {
  works: { b: waiting },
});
try {
  await graph.invoke({ log: [] }, { configurable: { thread_id: "t1" } });
  process.stdout.write("done\n");
} catch (error) {
  process.stdout.write(hasCode(error, "GRAPH_CONFLICT") ? "overtaken\n" : `${String(error)}\n`);
}
