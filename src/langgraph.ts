/**
 * LangGraph.js on Waypoint: a saver of checkpoints that needs no root, no daemon and no Linux, and what
 * links any saver with a session.
 *
 * docs/langgraph.md teaches it.
 */

export {
  type DynamoClient,
  type DynamoOptions,
  DynamoRecords,
} from "./portable/records/dynamodb/index.ts";
export {
  type Change,
  RetriedRecords,
  type ScanOptions,
  type ThreadRecord,
  type ThreadRecords,
  type WriteConditions,
  type WriteResult,
} from "./portable/records/index.ts";
export {
  type PostgresOptions,
  type PostgresPool,
  PostgresRecords,
} from "./portable/records/postgres/index.ts";
export {
  type Durability,
  type RedisClient,
  type RedisOptions,
  RedisRecords,
} from "./portable/records/redis/index.ts";
export { type ErrorCode, hasCode, WaypointError } from "./shared/errors/index.ts";
export * from "./surfaces/langgraph/index.ts";
