/** sqlite keeps records of threads in a file of SQLite. */
export { SqliteRecords } from "./sqlite-records.ts";
