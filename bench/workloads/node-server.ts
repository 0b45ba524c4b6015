import { nodeServerProgram } from "../programs/node-server.ts";
import { compareProgram } from "./compare-program.ts";
import type { Workload } from "./workload.ts";

/** A web server in Node: eleven threads, a garbage-collected heap, an event loop. */
export const nodeServer: Workload = {
  name: "node",
  title: "a Node server",
  rounds: { quick: 8, full: 40 },
  prepare: (context) =>
    compareProgram(nodeServerProgram(), context, { withPodman: context.isFull }),
};
