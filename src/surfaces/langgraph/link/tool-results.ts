import type { Checkpoint, PendingWrite } from "@langchain/langgraph-checkpoint";

/** Deeper than a message in a list in a channel of a graph's state nothing is looked for. */
const DEPTH_MAX = 3;

/** Tells whether a task has written what a tool has answered. */
export function hasToolResult(writes: readonly PendingWrite[]): boolean {
  return writes.some(([, value]) => isToolResult(value, DEPTH_MAX));
}

function isToolResult(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return depth > 0 && value.some((each) => isToolResult(each, depth - 1));
  const { type, getType, lc_kwargs: wrapped } = value as Record<string, unknown>;
  if (typeof getType === "function") return getType.call(value) === "tool";
  if (type === "tool") return true;
  if (wrapped !== undefined || depth === 0) return false;
  return Object.values(value).some((each) => isToolResult(each, depth - 1));
}

/** Returns what tells which nodes have run, up to a checkpoint: it differs where one of them has. */
export function ranOf(checkpoint: Checkpoint | undefined, nodes: readonly string[]): string {
  return JSON.stringify(nodes.map((node) => checkpoint?.versions_seen[node] ?? null));
}
