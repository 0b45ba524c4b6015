import { postgresqlProgram } from "../programs/postgresql.ts";
import { compareProgram } from "./compare-program.ts";
import type { Workload } from "./workload.ts";

/** A database server of several processes with shared memory and a table. */
export const postgresql: Workload = {
  name: "postgresql",
  title: "PostgreSQL with a table of 100,000 rows",
  rounds: { quick: 5, full: 30 },
  prepare: async (context) =>
    compareProgram(postgresqlProgram(), context, { withPodman: context.isFull }),
};
