import { appendFileSync } from "node:fs";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { WaypointSaver } from "../../src/surfaces/langgraph/index.ts";

/** How many steps the graph of the test has. */
export const STEPS = 30;
export const THREAD = { configurable: { thread_id: "killed" } };

const BLOB_CHARS = 20_000;

/** A graph whose node notes each of its runs in a file, before it answers. */
export function killedGraph(checkpointer: WaypointSaver, notesPath: string) {
  const state = Annotation.Root({
    log: Annotation<number[]>({ reducer: (log, more) => [...log, ...more], default: () => [] }),
    blob: Annotation<string>,
  });
  return new StateGraph(state)
    .addNode("work", async ({ log }) => {
      appendFileSync(notesPath, `${log.length}\n`);
      await delay(2);
      return {
        log: [log.length],
        blob: String(log.length).repeat(BLOB_CHARS).slice(0, BLOB_CHARS),
      };
    })
    .addEdge(START, "work")
    .addConditionalEdges("work", ({ log }) => (log.length < STEPS ? "work" : END))
    .compile({ checkpointer });
}

// node graph-program.ts ADDRESS NOTES: begins the graph, or goes on where it was.
if (process.argv[1] === import.meta.filename) {
  const [address = "", notesPath = ""] = process.argv.slice(2);
  await using saver = await WaypointSaver.open(address);
  const graph = killedGraph(saver, notesPath);
  const isBegun = (await saver.getTuple(THREAD)) !== undefined;
  const config = { ...THREAD, durability: "sync" as const, recursionLimit: STEPS + 10 };
  await graph.invoke(isBegun ? null : { log: [], blob: "" }, config);
}
