import { terminalProgram } from "../terminal-program.ts";

/** The state is in a transaction that is open all the time. */
export const postgresql = terminalProgram({
  name: "PostgreSQL, a transaction open",
  version: "psql --version",
  prepare: async (stage) => {
    await stage.run(
      "pg_ctlcluster $(ls /etc/postgresql) main start > /root/pg.log 2>&1 < /dev/null",
    );
    await stage.until("pg_lsclusters", /online/);
  },
  command: "cd /tmp; setpriv --reuid postgres --regid postgres --init-groups psql -At",
  ready: /^postgres=# $/,
  setup: ["create table fruit(id serial, name text);", "begin;"],
  question: (number) =>
    `select '${number}:' || count(*) || ' ' || coalesce((array_agg(name order by id desc))[1], '') || ':' from fruit;`,
  addition: (mark) => `insert into fruit(name) values ('${mark}');`,
});
