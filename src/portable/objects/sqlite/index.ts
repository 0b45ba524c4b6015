/** sqlite keeps objects in a file of SQLite. */
export { SqliteObjects } from "./sqlite-objects.ts";
