import os from "node:os";
import { NotMeasured } from "../measuring/not-measured.ts";
import { compile, inBackground } from "../programs/program.ts";
import { compareProgram } from "./compare-program.ts";
import type { Workload } from "./workload.ts";

/** Original, its twin for bare CRIU, a fork, and the images of each. */
const COPIES_MAX = 5;
const READY = "/tmp/memory-is-full";

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
    const hold = inBackground(`/tmp/resident ${context.mebibytes} ${READY}`);
    const start = `chmod 755 /tmp/resident; ${hold}`;
    return compareProgram(
      {
        files: { "/tmp/resident": await compile("resident", context.buildDir) },
        start,
        isReady: `test -e ${READY}`,
      },
      context,
      { withPodman: context.isFull },
    );
  },
};
