import { resolveSession } from "../portable/lineage/index.ts";
import type { HandlersOf } from "./operation-handler.ts";

/** What the operation on automatic checkpoints does. */
export const AUTO_HANDLERS: HandlersOf<"auto"> = {
  auto: async ({ session, policy, paused, taskDone }, engine) => {
    const { catalog, automatic, live } = engine;
    const { id, autoPausedAt } = resolveSession(session, catalog);
    const since = autoPausedAt ?? new Date().toISOString();
    const change = {
      ...(policy === undefined ? {} : { auto: policy }),
      ...(paused === undefined ? {} : { autoPausedAt: paused ? since : null }),
    };
    if (Object.keys(change).length > 0) {
      catalog.updateSession(id, change);
      const instance = live.get(id);
      if (instance !== undefined) automatic.begin(instance);
    }
    if (taskDone !== undefined) automatic.taskEnded(id, taskDone);
    return automatic.describe(resolveSession(id, catalog));
  },
};
