/** postgres keeps records of threads in a database of PostgreSQL. */
export type { PostgresOptions, PostgresPool } from "./connect-postgres.ts";
export { PostgresRecords } from "./postgres-records.ts";
