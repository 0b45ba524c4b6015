/**
 * langgraph owns what graphs of LangGraph.js are kept by: a saver of checkpoints that needs no machine.
 * It knows no session, no daemon and no Linux.
 */
export { SafeSerializer } from "./safe-serializer.ts";
export type { EncryptionOptions } from "./seal.ts";
export { type SaverOptions, WaypointSaver } from "./waypoint-saver.ts";
