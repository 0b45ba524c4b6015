/** redis keeps records of threads in a server of Redis, without modules. */
export type { RedisClient, RedisOptions } from "./connect-redis.ts";
export { type Durability, RedisRecords } from "./redis-records.ts";
