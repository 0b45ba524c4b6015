/** contacts/sqlite owns contacts in a file of SQLite. */
export { SqliteContacts } from "./sqlite-contacts.ts";
