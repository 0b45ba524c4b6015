import process from "node:process";
import { Annotation, StateGraph } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { Waypoint } from "../../src/index.ts";
import { linkSession } from "../../src/langgraph.ts";

/** A graph that is killed and started again: each node checks the machine against the graph's state. */
const [stateDir = "", name = "", database = ""] = process.argv.slice(2);
/** The steps of the graph; the nodes of one step run side by side. */
export const STEPS = [["a"], ["b"], ["c", "d"], ["e"], ["f", "g", "h"], ["i"], ["j"]] as const;
export const THREAD = { configurable: { thread_id: "t1" } };

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (x, y) => [...x, ...y], default: () => [] }),
});

async function work(): Promise<void> {
  const waypoint = await Waypoint.open({ stateDir });
  const session = await waypoint.session(name);
  const saver = SqliteSaver.fromConnString(database);
  const linked = linkSession(saver, session);
  const node = (own: string, stepNodes: readonly string[]) => async (state: typeof State.State) => {
    process.stdout.write(`${own}\n`);
    const { stdout } = await session.exec("ls /srv/done; cat /srv/log", { shell: "own" });
    const found = stdout.split("\n").filter((line) => line !== "" && !stepNodes.includes(line));
    const twice = [...state.log].sort().concat(state.log);
    if (found.sort().join() !== twice.sort().join()) {
      process.stderr.write(`before ${own} the machine has ${found}, the graph ${state.log}\n`);
      process.exit(4);
    }
    // In the shell's memory and in files, in two parts, so that a kill comes between them, too.
    await session.exec(`echo ${own} >> /srv/log`, { shell: "own" });
    if (stepNodes.length === 1) await session.exec(`DONE="$DONE"${own}`);
    await session.exec(`mkdir /srv/done/${own}`, { shell: "own" });
    return { log: [own] };
  };
  let graph = new StateGraph(State) as StateGraph<typeof State, unknown, unknown, string>;
  let before: string | string[] = "__start__";
  for (const nodes of STEPS) {
    for (const own of nodes) {
      graph = graph.addNode(own, node(own, nodes)) as typeof graph;
      if (typeof before === "string") graph.addEdge(before as "__start__", own);
      else graph.addEdge(before, own);
    }
    before = nodes.length === 1 ? nodes[0] : [...nodes];
  }
  const compiled = graph.compile({ checkpointer: linked }).withConfig({ durability: "sync" });
  process.stdout.write("ready\n");
  const isBegun = (await compiled.getState(THREAD)).config.configurable?.["checkpoint_id"];
  await compiled.invoke(isBegun === undefined ? { log: [] } : null, THREAD);
}

if (process.argv[1]?.endsWith("graph-agent.ts") === true) await work();
