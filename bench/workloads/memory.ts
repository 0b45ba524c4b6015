import os from "node:os";
import { NotMeasured } from "../measuring/not-measured.ts";
import { resident } from "../programs/resident.ts";
import { compareProgram } from "./compare-program.ts";
import type { Workload } from "./workload.ts";

/** Original, its twin for bare CRIU, a fork, and the images of each. */
const COPIES_MAX = 5;

/** A large heap, no two pages of which are alike. */
export const memory: Workload = {
  name: "memory",
  title: "a program with much memory (--mebibytes, 2 GiB unless said otherwise)",
  rounds: { quick: 3, full: 8 },
  warmMebibytes: ({ mebibytes }) => 3 * mebibytes,
  prepare: async (context) => {
    if (os.freemem() < COPIES_MAX * context.mebibytes * 1024 * 1024) {
      throw new NotMeasured(`less than ${COPIES_MAX * context.mebibytes} MiB of memory are free`);
    }
    const program = await resident(context.mebibytes, context);
    return compareProgram(program, context, { withPodman: context.isFull });
  },
};
