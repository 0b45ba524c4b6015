import { readFileSync } from "node:fs";
import path from "node:path";
import { inBackground, type UsedProgram } from "./program.ts";

const SERVER = path.join(import.meta.dirname, "server.mjs");
const READY = "/tmp/server-listens";
const REQUEST = 'fetch("http://127.0.0.1:3000/" + Date.now()).then((answer) => answer.text())';

/** Returns a web server in Node; to use it is to ask it for a page. */
export function nodeServerProgram(): UsedProgram {
  return {
    files: { "/tmp/server.mjs": readFileSync(SERVER) },
    // Podman's own filter lets Node have an io_uring, which CRIU cannot dump.
    start: inBackground(`env UV_USE_IO_URING=0 '${process.execPath}' /tmp/server.mjs ${READY}`),
    isReady: `test -e ${READY}`,
    use: `'${process.execPath}' -e '${REQUEST}'`,
  };
}
