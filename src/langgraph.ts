/**
 * LangGraph.js on Waypoint: a saver of checkpoints that needs no root, no daemon and no Linux.
 *
 * docs/langgraph.md teaches it.
 */

export { type ErrorCode, hasCode, WaypointError } from "./shared/errors/index.ts";
export {
  type EncryptionOptions,
  SafeSerializer,
  type SaverOptions,
  WaypointSaver,
} from "./surfaces/langgraph/index.ts";
