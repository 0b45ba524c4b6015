// A program with a graph, where no native library can be loaded: node graph-anywhere.mjs FILE
import * as nodeModule from "node:module";
import process from "node:process";

nodeModule.registerHooks?.({
  resolve(specifier, context, next) {
    if (specifier === "koffi") throw new Error("not there: koffi");
    return next(specifier, context);
  },
});

const { Annotation, END, START, StateGraph } = await import("@langchain/langgraph");
const { WaypointSaver } = await import("waypoint/langgraph");

const state = Annotation.Root({
  log: Annotation({ reducer: (log, more) => [...log, ...more], default: () => [] }),
});
const graphOn = (checkpointer) =>
  new StateGraph(state)
    .addNode("a", () => ({ log: ["a"] }))
    .addNode("b", () => ({ log: ["b"] }))
    .addEdge(START, "a")
    .addEdge("a", "b")
    .addEdge("b", END)
    .compile({ checkpointer });

const thread = { configurable: { thread_id: "t" }, durability: "sync" };
for (const address of ["memory:", `sqlite:${process.argv[2]}`]) {
  const saver = await WaypointSaver.open(address);
  const graph = graphOn(saver);
  await graph.invoke({ log: ["in"] }, thread);
  for await (const moment of graph.getStateHistory(thread)) {
    if (!moment.next.includes("b")) continue;
    const { log } = await graph.invoke(
      null,
      await graph.updateState(moment.config, { log: ["edit"] }),
    );
    process.stdout.write(`${log.join()}\n`);
  }
  await saver[Symbol.asyncDispose]();
}
const loaded = process.report.getReport().sharedObjects.filter((each) => each.includes("koffi"));
process.stdout.write(`${process.version} ${process.getuid?.()} ${loaded.length}\n`);
