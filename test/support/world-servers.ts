/**
 * A program: a name server and a server of HTTP, of the network namespace in which it is started.
 *
 * Its argument is JSON: the names, each with its addresses. It prints "ready" when it answers.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import process from "node:process";
import { decode, encode } from "dns-packet";

const HTTP_PORTS = [8080, 8081];
const NXDOMAIN = 3;
const names = JSON.parse(process.argv[2] ?? "{}") as Record<string, string[]>;

function answer(message: Buffer): Buffer {
  const { id = 0, questions = [] } = decode(message);
  const [question] = questions;
  const name = (question?.name ?? "").toLowerCase();
  const addresses = names[name] ?? [];
  const isKnown = name in names;
  return encode({
    ...{ id, type: "response", flags: 0x0180 | (isKnown ? 0 : NXDOMAIN), questions },
    answers:
      question?.type === "A"
        ? addresses.map((data) => ({ type: "A", name: question.name, ttl: 60, data }))
        : [],
  });
}

const names4 = createSocket("udp4");
names4.on("message", (message, from) => {
  try {
    names4.send(answer(message), from.port, from.address);
  } catch {
    // Some of what it is sent is damaged on purpose.
  }
});
names4.bind(53);
await once(names4, "listening");
const overTcp = createServer((connection) => {
  connection.on("error", () => {});
  connection.on("data", (data: Buffer) => {
    const reply = answer(data.subarray(2));
    const length = Buffer.alloc(2);
    length.writeUInt16BE(reply.length);
    connection.write(Buffer.concat([length, reply]));
  });
}).listen(53);
await once(overTcp, "listening");
for (const port of HTTP_PORTS) {
  const http = createHttpServer((request, response) => {
    request.resume();
    request.on("end", () =>
      response.end(`${"x".repeat(5000)} at ${request.socket.localAddress}\n`),
    );
  }).listen(port, "0.0.0.0");
  await once(http, "listening");
}
process.stdout.write("ready\n");
