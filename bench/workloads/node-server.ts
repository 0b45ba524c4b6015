import { readFileSync } from "node:fs";
import path from "node:path";
import { inBackground } from "../programs/program.ts";
import { compareProgram } from "./compare-program.ts";
import type { Workload } from "./workload.ts";

const SERVER = path.resolve(import.meta.dirname, "../programs/server.mjs");
const READY = "/tmp/server-listens";

/** A web server in Node: eleven threads, a garbage-collected heap, an event loop. */
export const nodeServer: Workload = {
  name: "node",
  title: "a Node server",
  rounds: { quick: 8, full: 40 },
  prepare: (context) =>
    compareProgram(
      {
        files: { "/tmp/server.mjs": readFileSync(SERVER) },
        // Podman's own filter lets Node have an io_uring, which CRIU cannot dump.
        start: inBackground(`env UV_USE_IO_URING=0 '${process.execPath}' /tmp/server.mjs ${READY}`),
        isReady: `test -e ${READY}`,
      },
      context,
      { withPodman: context.isFull },
    ),
};
