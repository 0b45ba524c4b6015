/** effects/sqlite owns the effects of sessions in a file of SQLite. */
export { SqliteEffects } from "./sqlite-effects.ts";
