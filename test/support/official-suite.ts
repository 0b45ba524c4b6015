import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import * as vitest from "vitest";

/** Its modules take what they test with from the globals that a runner has set. */
Object.assign(globalThis, vitest);

/**
 * Runs LangGraph's own conformance suite, under our name and with nothing left out, and the part of it
 * on channels that are kept as their writes.
 */
export async function runOfficialSuite(
  checkpointerName: string,
  open: () => BaseCheckpointSaver | Promise<BaseCheckpointSaver>,
): Promise<void> {
  const { deltaChannelHistoryTests, specTest } = await import(
    "@langchain/langgraph-checkpoint-validation"
  );
  const initializer = {
    checkpointerName,
    createCheckpointer: async () => await open(),
    destroyCheckpointer: async (saver: BaseCheckpointSaver & Partial<AsyncDisposable>) =>
      await saver[Symbol.asyncDispose]?.(),
  };
  specTest(initializer);
  deltaChannelHistoryTests(initializer);
}
