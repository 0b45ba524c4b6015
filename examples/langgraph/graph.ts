import { type AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { type BaseCheckpointSaver, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import type { Session } from "../../src/index.ts";
import { linkSession } from "../../src/langgraph.ts";
import { answerOf } from "./scripted-model.ts";

const THREAD = { configurable: { thread_id: "prices" } };

/** Makes a loop of a model and a shell. The shell is the session's own: `cd` and variables stay. */
export function shellAgent(saver: BaseCheckpointSaver, session: Session) {
  const linked = linkSession(saver, session, { policy: "tools", toolNodes: ["shell"] });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("model", ({ messages }) => ({ messages: [answerOf(messages)] }))
    .addNode("shell", async ({ messages }, config) => {
      const machine = await linked.sessionOf(config);
      const calls = (messages.at(-1) as AIMessage).tool_calls ?? [];
      const results: ToolMessage[] = [];
      for (const { id = "", args } of calls) {
        const command = String(args["command"]);
        const { stdout, stderr } = await machine.exec(command);
        console.log(`  $ ${command}`);
        const content = `${stdout}${stderr}`.trim();
        if (content !== "") console.log(`    ${content.split("\n").join("\n    ")}`);
        results.push(new ToolMessage({ content, tool_call_id: id }));
      }
      return { messages: results };
    })
    .addEdge("__start__", "model")
    .addConditionalEdges("model", ({ messages }) =>
      (messages.at(-1) as AIMessage).tool_calls?.length ? "shell" : "__end__",
    )
    .addEdge("shell", "model")
    .compile({ checkpointer: linked })
    .withConfig({ durability: "sync" });
  return { linked, graph };
}

/** Runs the agent: it goes wrong, goes back two steps with its machine, and finishes. */
export async function tellStory(saver: BaseCheckpointSaver, session: Session): Promise<void> {
  await session.exec(
    "mkdir /srv/shop && cd /srv/shop && echo 'tea 3' > prices && echo '12 tea' > orders" +
      " && echo 'test -f /srv/shop/orders && echo passed || echo orders are missing' > test",
  );
  const { linked, graph } = shellAgent(saver, session);

  console.log("\nThe agent is to make tea cost 4:\n");
  const task = new HumanMessage("Make tea cost 4, and test it.");
  const wrong = await graph.invoke({ messages: [task] }, THREAD);
  console.log(`\n  Agent: ${wrong.messages.at(-1)?.text}`);

  console.log("\nWhat each step of the graph changed on the machine, newest first:\n");
  for await (const { tuple, summary } of linked.history(THREAD)) {
    const { step = 0 } = tuple.metadata ?? {};
    if (summary !== null && step > 0) console.log(`  step ${step}: ${summary || "nothing"}`);
  }

  console.log("\nBack to before its second command, and told what it must not do:\n");
  const before = await stepBefore(graph, "rm ");
  const told = new HumanMessage("Do not delete anything.");
  const config = await graph.updateState(before, { messages: [told] }, "shell");
  const right = await graph.invoke(null, config);
  console.log(`\n  Agent: ${right.messages.at(-1)?.text}`);

  const { stdout } = await session.exec("cat /srv/shop/prices /srv/shop/orders");
  console.log(`\nOn the machine:\n\n  ${stdout.trim().split("\n").join("\n  ")}\n`);
}

/** Returns the step after which the model decided on a command. */
async function stepBefore(graph: ReturnType<typeof shellAgent>["graph"], command: string) {
  let isReached = false;
  for await (const { config, values, next } of graph.getStateHistory(THREAD)) {
    const call = (values.messages as AIMessage[]).at(-1)?.tool_calls?.[0];
    if (isReached && next[0] === "model") return config;
    if (String(call?.args["command"]).startsWith(command)) isReached = true;
  }
  throw new Error(`no step before ${command}`);
}
