import { Annotation, type BaseCheckpointSaver, StateGraph } from "@langchain/langgraph";
import type { Session } from "../../src/index.ts";
import { type LinkedSaver, type LinkOptions, linkSession } from "../../src/langgraph.ts";

/** Where a node notes on the machine what it has done. */
export const LOG_PATH = "/srv/log";

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});
type Work = (session: Session) => unknown;

/** Does something that files and the shell's memory show. */
export async function doOnMachine(session: Session, what: string): Promise<void> {
  await session.exec(`echo ${what} >> ${LOG_PATH}; DONE="$DONE"${what}" "`);
}

/** Returns what was done on a machine, as its files and as its shell have it. */
export async function doneOn(session: Session): Promise<{ files: string; shell: string }> {
  const result = await session.exec(`cat ${LOG_PATH} 2>/dev/null | tr '\\n' ' '; echo "|$DONE"`);
  const [files = "", shell = ""] = result.stdout.split("|");
  return { files: files.trim(), shell: shell.trim() };
}

/** A graph of the nodes a, b and c in a line, each of which does its name on the machine. */
export function linkedLine(
  saver: BaseCheckpointSaver,
  session: Session,
  {
    works = {},
    ...options
  }: LinkOptions<Session> & { works?: Partial<Record<"a" | "b" | "c", Work>> } = {},
) {
  const linked: LinkedSaver<Session> = linkSession(saver, session, options);
  const node = (name: "a" | "b" | "c") => async (_: typeof State.State, config: object) => {
    const own = await linked.sessionOf(config);
    await doOnMachine(own, name);
    await works[name]?.(own);
    return { log: [name] };
  };
  const graph = new StateGraph(State)
    .addNode("a", node("a"))
    .addNode("b", node("b"))
    .addNode("c", node("c"))
    .addEdge("__start__", "a")
    .addEdge("a", "b")
    .addEdge("b", "c")
    .addEdge("c", "__end__")
    .compile({ checkpointer: linked })
    .withConfig({ durability: "sync" });
  return { linked, graph };
}
