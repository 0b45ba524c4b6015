import { serverProgram } from "./server-program.ts";
import type { ZooProgram } from "./zoo-program.ts";

/** State in memory, a worker thread, a timer, a watched directory. */
const SERVER = `
const { Worker } = require("node:worker_threads");
const state = [];
const worker = new Worker('require("node:worker_threads").parentPort.on("message", (m) => ' +
  'require("node:worker_threads").parentPort.postMessage(m))', { eval: true });
worker.on("message", (mark) => state.push(mark));
setInterval(() => {}, 5);
require("node:fs").watch("/root", () => {});
require("node:http").createServer((request, response) => {
  const mark = new URL(request.url, "http://x").searchParams.get("add");
  if (mark) worker.postMessage(mark);
  response.end("state " + state.join(" "));
}).listen(7000);
`;

/** A server in the Node that lies at `node`. */
export function nodeServer(name: string, node: string): ZooProgram {
  return serverProgram({
    name,
    version: `${node} --version`,
    prepare: (stage) => stage.write("/root/server.cjs", SERVER),
    command: `${node} /root/server.cjs`,
    port: 7000,
  });
}
