/** sqlite owns the catalog in a file of SQLite; nothing outside knows SQL. */
export { SqliteCatalog } from "./catalog.ts";
export { namesNothing } from "./count-named.ts";
