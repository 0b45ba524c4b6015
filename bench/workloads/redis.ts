import { redisProgram } from "../programs/redis.ts";
import { compareProgram } from "./compare-program.ts";
import type { Workload } from "./workload.ts";

/** An in-memory database with 100 MB. */
export const redis: Workload = {
  name: "redis",
  title: "Redis with 100 MB",
  rounds: { quick: 5, full: 30 },
  prepare: async (context) =>
    compareProgram(redisProgram(), context, { withPodman: context.isFull }),
};
