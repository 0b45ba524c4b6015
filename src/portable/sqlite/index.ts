/**
 * sqlite owns files of SQLite: migrations, transactions that reach the disk, what a full one says.
 * It knows no table.
 */
export { isUnwritable, type Row, SqliteFile } from "./sqlite-file.ts";
