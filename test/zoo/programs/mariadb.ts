import { terminalProgram } from "../terminal-program.ts";

/** The state is in a transaction that is open all the time. */
export const mariadb = terminalProgram({
  name: "MariaDB, a transaction open",
  version: "mariadbd --version",
  prepare: async (stage) => {
    await stage.run("install -d -o mysql /run/mysqld");
    await stage.background("exec mariadbd --user=mysql");
    await stage.until("mariadb-admin ping", /alive/);
  },
  command: "mariadb --silent --skip-column-names --unbuffered --raw",
  ready: /^MariaDB \[\(none\)\]> $/,
  setup: [
    "create database zoo; use zoo; create table fruit(id int auto_increment primary key, name text); start transaction;",
  ],
  question: (number) =>
    `select concat('${number}:', count(*), ' ', ifnull(substring_index(group_concat(name order by id desc), ',', 1), ''), ':') from fruit;`,
  addition: (mark) => `insert into fruit(name) values ('${mark}');`,
});
