import { randomBytes } from "node:crypto";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { timed } from "../measuring/contender.ts";

const STEPS = 50;
/** A checkpoint of the input, one before the first step and one after each. */
const CHECKPOINTS = STEPS + 2;
const KILOBYTE = 1000;

/** What the state of a graph does at each step. */
export type Growth = "static" | "rewritten" | "appended";

/** What one run of a graph took. */
export interface GraphFigures {
  msPerCheckpoint: number;
  /** What each put took. */
  putsMs: readonly number[];
}

let threads = 0;

/** Runs a graph of 50 steps whose state has so many bytes, or has them in the end. */
export async function measureGraph(
  saver: BaseCheckpointSaver,
  growth: Growth,
  kilobytes: number,
  durability: "sync" | "async" = "async",
): Promise<GraphFigures> {
  const putsMs: number[] = [];
  const graph = graphOf(noting(saver, putsMs), growth, kilobytes);
  const config = {
    configurable: { thread_id: `thread-${++threads}` },
    durability,
    recursionLimit: STEPS + 10,
  };
  const payload = growth === "appended" ? [] : [textOf(kilobytes)];
  const { tookMs } = await timed(() => graph.invoke({ step: 0, payload }, config));
  return { msPerCheckpoint: tookMs / CHECKPOINTS, putsMs };
}

function graphOf(checkpointer: BaseCheckpointSaver, growth: Growth, kilobytes: number) {
  const append = (texts: string[], more: string[]) => [...texts, ...more];
  const replace = (texts: string[], [text]: string[]) => (text === undefined ? texts : [text]);
  const reducer = growth === "appended" ? append : replace;
  const state = Annotation.Root({
    step: Annotation<number>,
    payload: Annotation<string[]>({ reducer, default: () => [] }),
  });
  const written: Record<Growth, () => { payload?: string[] }> = {
    static: () => ({}),
    rewritten: () => ({ payload: [textOf(kilobytes)] }),
    appended: () => ({ payload: [textOf(kilobytes / STEPS)] }),
  };
  return new StateGraph(state)
    .addNode("work", ({ step }) => ({ step: step + 1, ...written[growth]() }))
    .addEdge(START, "work")
    .addConditionalEdges("work", ({ step }) => (step < STEPS ? "work" : END))
    .compile({ checkpointer });
}

/** Notes how long each put takes. */
function noting(saver: BaseCheckpointSaver, putsMs: number[]): BaseCheckpointSaver {
  return new Proxy(saver, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name !== "put") return typeof value === "function" ? value.bind(target) : value;
      return async (...values: Parameters<BaseCheckpointSaver["put"]>) => {
        const { value: config, tookMs } = await timed(() => target.put(...values));
        putsMs.push(tookMs);
        return config;
      };
    },
  });
}

/** Text that cannot be made much shorter: nobody gains by that what no user has. */
function textOf(kilobytes: number): string {
  return randomBytes((kilobytes * KILOBYTE * 3) / 4).toString("base64");
}
