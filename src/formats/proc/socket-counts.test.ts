import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { expect, test } from "vitest";
import { countsSockets } from "./socket-counts.ts";

test.each([
  ["TCP: inuse 1 orphan 0 tw 0 alloc 1 mem 0", true],
  ["TCP: inuse 0 orphan 0 tw 2 alloc 0 mem 0", true],
  ["TCP: inuse 0 orphan 0 tw 0 alloc 7 mem 305", false],
  ["TCP6: inuse 12", true],
  ["UDP: inuse 0 mem 3", false],
  ["UDPLITE6: inuse 1", true],
  ["RAW: inuse 10", true],
  ["FRAG: inuse 1 memory 512", false],
  ["sockets: used 8", false],
])("of the line %j it is told whether it counts sockets", (line, isCounted) => {
  const text = `sockets: used 3\n${line}\nFRAG: inuse 0 memory 0\n`;

  expect(countsSockets(text, ["TCP", "UDP", "UDPLITE", "RAW"])).toBe(isCounted);
});

test("other protocols than those that are asked for do not count", () => {
  expect(countsSockets("TCP: inuse 0 tw 0\nUDP: inuse 3 mem 1\n", ["TCP"])).toBe(false);
});

test("the kernel counts a socket that listens, and one that is connected", async () => {
  const server: Server = createServer().listen(0, "::1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const client = connect(port, "::1");
  await once(client, "connect");
  try {
    expect(countsSockets(readFileSync("/proc/self/net/sockstat6", "utf8"), ["TCP"])).toBe(true);
  } finally {
    client.destroy();
    server.close();
  }
});
