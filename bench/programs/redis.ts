import { NotMeasured } from "../measuring/not-measured.ts";
import { findPeer, peersEnvironment } from "../peers/peers-dir.ts";
import { inBackground, type UsedProgram } from "./program.ts";

const SOCKET = "/tmp/redis.sock";
const KEYS = 100_000;
const KEYS_USED = 100;
const setKeys = (count: number) =>
  `for i=1,${count} do redis.call("set", "key:" .. i, string.rep(tostring(i), 180)) end`;

/** Returns Redis with 100 MB; to use it is to set some of its keys again. */
export function redisProgram(): UsedProgram {
  const server = findPeer("redis-server");
  const client = findPeer("redis-cli");
  if (server === undefined || client === undefined) {
    throw new NotMeasured("redis-server is not installed (`npm run bench -- --install-peers`)");
  }
  const libraries = peersEnvironment().LD_LIBRARY_PATH ?? "";
  const env = `env LD_LIBRARY_PATH='${libraries}'`;
  const options = `--port 0 --unixsocket ${SOCKET} --save '' --dir /tmp --io-threads 1`;
  const ask = `${env} '${client}' -s ${SOCKET}`;
  return {
    files: {},
    start: `${inBackground(`${env} '${server}' ${options}`)}
      until ${ask} ping >/dev/null 2>&1; do sleep 0.1; done
      ${ask} eval '${setKeys(KEYS)}' 0 >/dev/null`,
    isReady: `test "$(${ask} dbsize)" = ${KEYS}`,
    use: `${ask} eval '${setKeys(KEYS_USED)}' 0 >/dev/null`,
  };
}
