/**
 * LangGraph.js on Waypoint: a saver of checkpoints that needs no root, no daemon and no Linux, and what
 * links any saver with a session.
 *
 * docs/langgraph.md teaches it.
 */

export { type ErrorCode, hasCode, WaypointError } from "./shared/errors/index.ts";
export {
  type EncryptionOptions,
  type Link,
  type LinkableSession,
  type LinkableState,
  type LinkableStory,
  type LinkedSaver,
  type LinkedStep,
  type LinkOptions,
  type LinkPolicy,
  linkSession,
  SafeSerializer,
  type SaverOptions,
  WaypointSaver,
} from "./surfaces/langgraph/index.ts";
