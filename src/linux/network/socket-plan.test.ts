import { expect, test } from "vitest";
import { buildEgressHold } from "./hold-egress.ts";
import { buildNamespaceBatch, buildReleaseScript } from "./session-commands.ts";
import { planSockets, planSocketsOnHost, type RestoredSocket } from "./socket-plan.ts";

function tcp(local: string, remote: string | null): RestoredSocket {
  return {
    protocol: "tcp",
    local: end(local),
    remote: remote === null ? null : end(remote),
    queuedBytes: 0,
  };
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

  expect(planSockets(inside)).toBeNull();
  expect(planSockets([...inside, TO_WORLD])).toEqual({
    connections: [TO_WORLD],
    addresses: [],
    addressesKept: [],
    needsRoute: true,
    needsIpv6Route: false,
    senders: [],
  });
});

test("a forwarded connection is outside, though it comes from the loopback", () => {
  expect(planSockets([FORWARDED])).toMatchObject({
    connections: [FORWARDED],
    needsRoute: false,
  });
});

test("senders with queued data are silent until all sockets are back, wherever they lead", () => {
  const inside = { ...tcp("127.0.0.1:40001", "127.0.0.1:3000"), queuedBytes: 7 };
  const sockets = [inside, tcp("127.0.0.1:3000", "127.0.0.1:40001")];
  const ipv6 = { ...tcp("::1:40001", "::1:3000"), queuedBytes: 1 };

  expect(planSockets(sockets)).toMatchObject({ connections: [], senders: [inside] });
  expect(buildEgressHold("s", planSockets([ipv6, ...sockets])?.senders ?? [])).toBe(
    `table inet s {
  chain output {
    type filter hook output priority filter
    meta mark 0xc114 accept
    ip6 saddr ::1 ip6 daddr ::1 tcp sport 40001 tcp dport 3000 drop
    ip saddr 127.0.0.1 ip daddr 127.0.0.1 tcp sport 40001 tcp dport 3000 drop
  }
}
`,
  );
});

test("on the host's network addresses and routes are there already", () => {
  expect(planSocketsOnHost([FROM_HOST])).toEqual({
    connections: [FROM_HOST],
    senders: [],
    addresses: [],
    addressesKept: [],
    needsRoute: false,
    needsIpv6Route: false,
  });
  expect(planSocketsOnHost([tcp("192.0.2.1:80", null)])).toBeNull();
});

test("datagrams need their route and are not closed", () => {
  const datagrams = { ...TO_WORLD, protocol: "udp" } as const;

  expect(planSockets([datagrams])).toMatchObject({ connections: [], needsRoute: true });
});

test("a former link's address is there while sockets come back, and stays for a server", () => {
  const server = tcp("10.209.0.3:80", null);
  const plan = planSockets([FROM_HOST, server]);
  if (plan === null) throw new Error("nothing is planned");

  expect(buildNamespaceBatch(plan)).toBe(
    "link set lo up\naddress add 100.64.0.2/32 dev lo\naddress add 10.209.0.1/32 dev lo\n" +
      "address add 10.209.0.3/32 dev lo\n" +
      "route add default dev lo src 100.64.0.2 metric 4294967295\n",
  );
  expect(buildReleaseScript({ netnsPath: "/n", plan, link: null, egressHold: "s" })).toBe(
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
  const plan = planSockets(connections);
  if (plan === null) throw new Error("nothing is planned");

  const calls = buildReleaseScript({ netnsPath: "/n", plan, link: null, egressHold: "s" })
    .trim()
    .split("\n");

  expect(calls).toHaveLength(2);
  expect(calls[1]).toContain("'( src [::1]:201 and dst [::1]:9999 )'");
});
