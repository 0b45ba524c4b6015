/** sqlite keeps approvals in a file of SQLite. */
export { SqliteApprovals } from "./sqlite-approvals.ts";
