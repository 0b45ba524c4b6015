import { expect, test } from "vitest";
import { findOutsideSockets, type RestoredSocket } from "./outside-sockets.ts";
import { buildCloseScript, buildNamespaceBatch } from "./session-commands.ts";

function tcp(local: string, remote: string | null): RestoredSocket {
  return { protocol: "tcp", local: end(local), remote: remote === null ? null : end(remote) };
}

function end(text: string) {
  const colon = text.lastIndexOf(":");
  return { address: text.slice(0, colon), port: Number(text.slice(colon + 1)) };
}

const TO_WORLD = tcp("100.64.0.2:40000", "198.51.100.2:443");
const FORWARDED = tcp("127.0.0.1:3000", "127.0.0.1:50000");
const FROM_HOST = tcp("10.209.0.1:3000", "10.209.0.0:50001");

test("a connection with both ends among the sockets is inside, whatever its address", () => {
  const inside = [
    tcp("0.0.0.0:3000", null),
    tcp("127.0.0.1:3000", "127.0.0.1:40001"),
    tcp("127.0.0.1:40001", "127.0.0.1:3000"),
    tcp("100.64.0.2:3000", "100.64.0.2:40002"),
    tcp("100.64.0.2:40002", "100.64.0.2:3000"),
  ];

  expect(findOutsideSockets(inside)).toBeNull();
  expect(findOutsideSockets([...inside, TO_WORLD])).toEqual({
    connections: [TO_WORLD],
    addresses: [],
    addressesKept: [],
    needsRoute: true,
    needsIpv6Route: false,
  });
});

test("a forwarded connection is outside, though it comes from the loopback", () => {
  expect(findOutsideSockets([FORWARDED])).toMatchObject({
    connections: [FORWARDED],
    needsRoute: false,
  });
});

test("datagrams need their route and are not closed", () => {
  const datagrams = { ...TO_WORLD, protocol: "udp" } as const;

  expect(findOutsideSockets([datagrams])).toMatchObject({ connections: [], needsRoute: true });
});

test("a former link's address is there while sockets come back, and stays for a server", () => {
  const server = tcp("10.209.0.3:80", null);
  const outside = findOutsideSockets([FROM_HOST, server]);
  if (outside === null) throw new Error("nothing is outside");

  expect(buildNamespaceBatch(outside)).toBe(
    "link set lo up\naddress add 100.64.0.2/32 dev lo\naddress add 10.209.0.1/32 dev lo\n" +
      "address add 10.209.0.3/32 dev lo\n" +
      "route add default dev lo src 100.64.0.2 metric 4294967295\n",
  );
  expect(buildCloseScript("/n", outside, null)).toBe(
    "nsenter --net=/n -- ss --kill --tcp state connected " +
      "'( src 10.209.0.1:3000 and dst 10.209.0.0:50001 )' >/dev/null\n" +
      "nsenter --net=/n -- ip -batch - <<'END'\naddress delete 10.209.0.1/32 dev lo\n" +
      "route delete default dev lo src 100.64.0.2 metric 4294967295\nEND\n",
  );
});

test("many connections are closed in several calls, and IPv6 is written in brackets", () => {
  const connections = Array.from({ length: 201 }, (_, index) =>
    tcp(`::1:${index + 1}`, "::1:9999"),
  );
  const outside = findOutsideSockets(connections);
  if (outside === null) throw new Error("nothing is outside");

  const calls = buildCloseScript("/n", outside, null).trim().split("\n");

  expect(calls).toHaveLength(2);
  expect(calls[1]).toContain("'( src [::1]:201 and dst [::1]:9999 )'");
});
