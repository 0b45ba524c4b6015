/**
 * langgraph owns what graphs of LangGraph.js are kept by: a saver of checkpoints that needs no machine,
 * and what links any saver with one.
 * It knows no client, no daemon and no Linux: a session is whatever has the methods that linking needs.
 */
export {
  type Link,
  type LinkableSession,
  type LinkableState,
  type LinkableStory,
  type LinkedSaver,
  type LinkedStep,
  type LinkOptions,
  type LinkPolicy,
  linkSession,
} from "./link/link-session.ts";
export type { Pruned } from "./prune-thread.ts";
export { SafeSerializer } from "./safe-serializer.ts";
export type { EncryptionOptions } from "./seal.ts";
export type { ExpiryOptions } from "./thread-expiry.ts";
export { type PruneOptions, type SaverOptions, WaypointSaver } from "./waypoint-saver.ts";
