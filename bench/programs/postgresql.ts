import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { NotMeasured } from "../measuring/not-measured.ts";
import { findPeer } from "../peers/peers-dir.ts";
import type { UsedProgram } from "./program.ts";

const DEBIAN_DIR = "/usr/lib/postgresql";
const DATA = "/tmp/postgresql";
/** The server refuses to run as root; the user nobody is everywhere. */
const AS_NOBODY = "setpriv --reuid nobody --clear-groups env HOME=/tmp";

/** Returns PostgreSQL with a table of 100,000 rows; to use it is to insert one. */
export function postgresqlProgram(): UsedProgram {
  const initdb = findPeer("initdb", debianDirs());
  if (initdb === undefined) throw new NotMeasured("PostgreSQL is not installed");
  const bin = path.dirname(initdb);
  const options = `-w -s -D ${DATA} -l ${DATA}/log -o "-k ${DATA} -c listen_addresses=''"`;
  const ask = `${bin}/psql -h ${DATA} -U postgres -d postgres -tA -c`;
  const script = [
    `${bin}/initdb -N -D ${DATA} -A trust -U postgres >/dev/null`,
    `${bin}/pg_ctl ${options} start`,
    `${ask} "create table bench as select generate_series(1, 100000) n" >/dev/null`,
  ].join(" && ");
  return {
    files: { "/tmp/start-postgresql": Buffer.from(`${script}\n`) },
    start: `mkdir -m 700 ${DATA} && chown nobody ${DATA} && ${AS_NOBODY} sh /tmp/start-postgresql </dev/null >/dev/null 2>&1`,
    isReady: `test "$(${AS_NOBODY} ${ask} 'select count(*) from bench' 2>/dev/null)" = 100000`,
    use: `${AS_NOBODY} ${ask} 'insert into bench values (1)' >/dev/null 2>&1`,
  };
}

function debianDirs(): string[] {
  const versions = existsSync(DEBIAN_DIR) ? readdirSync(DEBIAN_DIR) : [];
  return versions
    .sort()
    .toReversed()
    .map((version) => path.join(DEBIAN_DIR, version, "bin"));
}
