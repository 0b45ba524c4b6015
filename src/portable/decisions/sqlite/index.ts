/** decisions/sqlite owns decisions in a file of SQLite. */
export { SqliteDecisions } from "./sqlite-decisions.ts";
