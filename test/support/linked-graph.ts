import { Annotation, MemorySaver, StateGraph } from "@langchain/langgraph";
import { type LinkedSaver, linkSession } from "../../src/surfaces/langgraph/index.ts";
import { type FakeSession, FakeWorld } from "./fake-linkable-session.ts";

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});
/** A graph that notes what its nodes have done. */
export const LogState = State;
export type Work = (session: FakeSession, log: string[]) => void | Promise<void>;
export const T1 = { configurable: { thread_id: "t1" } };
export const IN = { log: ["in"] };

/** A node that does its name on the machine, then notes it in the state. */
export function node(linked: LinkedSaver<FakeSession>, name: string, work: Work = () => {}) {
  return async ({ log }: typeof State.State, config: object) => {
    const own = await linked.sessionOf(config);
    own.do(name);
    await work(own, log);
    return { log: [name] };
  };
}

/** Three nodes in a line. */
export function line(linked: LinkedSaver<FakeSession>, works: Record<string, Work> = {}) {
  return new StateGraph(State)
    .addNode("a", node(linked, "a", works["a"]))
    .addNode("b", node(linked, "b", works["b"]))
    .addNode("c", node(linked, "c", works["c"]))
    .addEdge("__start__", "a")
    .addEdge("a", "b")
    .addEdge("b", "c")
    .addEdge("c", "__end__")
    .compile({ checkpointer: linked })
    .withConfig({ durability: "sync" });
}

/** A fake session, what keeps the graph's checkpoints, and what looks at both. */
export class LinkedWorld {
  readonly world = new FakeWorld();
  readonly session = this.world.new();
  memory = new MemorySaver();

  /** Returns what the machine of each checkpoint of the thread is, by what its graph has done. */
  async pairs(): Promise<[string, string][]> {
    const found: [string, string][] = [];
    for await (const { tuple, link } of linkSession(this.memory, this.session).history(T1)) {
      const { log = [] } = tuple.checkpoint.channel_values as { log?: string[] };
      const machine = this.world.moments.get(link?.checkpoint ?? "")?.machine;
      found.push([log.join(""), (machine ?? ["nothing"]).join("")]);
    }
    return found.reverse();
  }
}

/** Returns the config of the newest checkpoint from which `next` runs. */
export async function whereNext(graph: ReturnType<typeof line>, next: string) {
  for await (const { next: nodes, config } of graph.getStateHistory(T1)) {
    if (nodes[0] === next) return config;
  }
  throw new Error(`no checkpoint before ${next}`);
}
