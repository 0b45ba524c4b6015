import { terminalProgram } from "../terminal-program.ts";

/** The state is in a transaction that is open all the time. */
export const sqlite = terminalProgram({
  name: "sqlite3, a transaction open",
  version: "sqlite3 --version",
  command: "sqlite3 /root/fruit.db",
  ready: /^sqlite> $/,
  setup: ["create table fruit(name);", "begin;"],
  question: (number) =>
    `select '${number}:' || count(*) || ' ' || ifnull((select name from fruit order by rowid desc limit 1), '') || ':' from fruit;`,
  addition: (mark) => `insert into fruit values ('${mark}');`,
});
