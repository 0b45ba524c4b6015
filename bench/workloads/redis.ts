import { NotMeasured } from "../measuring/not-measured.ts";
import { findPeer, peersEnvironment } from "../peers/peers-dir.ts";
import { inBackground } from "../programs/program.ts";
import { compareProgram } from "./compare-program.ts";
import type { Workload } from "./workload.ts";

const SOCKET = "/tmp/redis.sock";
const KEYS = 100_000;
const FILL = `for i=1,${KEYS} do redis.call("set", "key:" .. i, string.rep(tostring(i), 180)) end`;

/** An in-memory database with 100 MB. */
export const redis: Workload = {
  name: "redis",
  title: "Redis with 100 MB",
  rounds: { quick: 5, full: 30 },
  prepare: async (context) => {
    const server = findPeer("redis-server");
    const client = findPeer("redis-cli");
    if (server === undefined || client === undefined) {
      throw new NotMeasured("redis-server is not installed (`npm run bench -- --install-peers`)");
    }
    const libraries = peersEnvironment().LD_LIBRARY_PATH ?? "";
    const env = `env LD_LIBRARY_PATH='${libraries}'`;
    const options = `--port 0 --unixsocket ${SOCKET} --save '' --dir /tmp --io-threads 1`;
    const ask = `${env} '${client}' -s ${SOCKET}`;
    return compareProgram(
      {
        files: {},
        start: `${inBackground(`${env} '${server}' ${options}`)}
          until ${ask} ping >/dev/null 2>&1; do sleep 0.1; done
          ${ask} eval '${FILL}' 0 >/dev/null`,
        isReady: `test "$(${ask} dbsize)" = ${KEYS}`,
      },
      context,
      { withPodman: context.isFull },
    );
  },
};
