import { expect, test } from "vitest";
import { parseFilterChains } from "./forward-policy.ts";
import { buildHostRules } from "./host-rules.ts";
import { chooseLinkRange, linkAddresses, parseRoutes } from "./link-addresses.ts";
import { linkAlias, parseLinks } from "./links.ts";
import { loopbackServerOf, RESOLVER_ADDRESS, resolvConfFor } from "./resolv-conf.ts";

test("every link number has a pair of addresses of its own", () => {
  expect(linkAddresses("10.209.0.0/16", 0)).toEqual({
    linkName: "wp0",
    hostAddress: "10.209.0.0",
    sessionAddress: "10.209.0.1",
    ipv6: null,
  });
  expect(linkAddresses("10.209.0.0/16", 32_767).sessionAddress).toBe("10.209.255.255");
});

test("a range that the host routes elsewhere is passed over, our own links do not count", () => {
  const routes = parseRoutes(`default via 192.0.2.1 dev eth0
10.209.3.0/24 dev vpn0 proto kernel scope link
10.210.0.0/31 dev wp0 proto kernel scope link
broadcast 192.0.2.255 dev eth0 table local scope link
local 10.208.0.1 dev eth0 table local
unreachable 10.211.0.0/16 metric 1
`);

  expect(routes).toEqual(["10.209.3.0/24", "192.0.2.255", "10.208.0.1", "10.211.0.0/16"]);
  expect(chooseLinkRange(routes)).toBe("10.210.0.0/16");
  expect(chooseLinkRange([])).toBe("10.209.0.0/16");
  expect(chooseLinkRange(["10.0.0.0/8"])).toBe("172.29.0.0/16");
  expect(chooseLinkRange(["0.0.0.0/0"])).toBeUndefined();
});

test("name servers that a session reaches are kept, others are left out", () => {
  const conf =
    "# comment\nnameserver 127.0.0.1\nnameserver 192.0.2.53\nnameserver fe80::1\nsearch example.org\n";

  expect(resolvConfFor(conf, RESOLVER_ADDRESS, false)).toBe(
    "nameserver 192.0.2.53\nsearch example.org\n",
  );
  expect(loopbackServerOf(conf, false)).toBeNull();
});

test("a name server on the loopback is led to through the gateway", () => {
  expect(resolvConfFor("nameserver 127.0.0.53\noptions edns0\n", "100.64.0.1", false)).toBe(
    "nameserver 100.64.0.1\noptions edns0\n",
  );
  expect(loopbackServerOf("nameserver 127.0.0.53\n", false)).toBe("127.0.0.53");
  expect(loopbackServerOf("nameserver ::1\n", true)).toBe("127.0.0.1");
});

test("IPv6 name servers are kept where sessions have IPv6, those of the host's own link are not", () => {
  const conf = "nameserver fe80::1%eth0\nnameserver FE80::2\nnameserver 2001:db8::1\n";

  expect(resolvConfFor(conf, RESOLVER_ADDRESS, true)).toBe("nameserver 2001:db8::1\n");
  expect(resolvConfFor(conf, RESOLVER_ADDRESS, false)).toBe("");
  const stub = `${conf}nameserver 127.0.0.53\n`;
  expect(loopbackServerOf(stub, true)).toBeNull();
  expect(resolvConfFor(stub, RESOLVER_ADDRESS, false)).toBe(`nameserver ${RESOLVER_ADDRESS}\n`);
});

test("the links of all daemons are read, also one that is just being made", () => {
  const json = JSON.stringify([
    { ifname: "wp3", ifalias: linkAlias("a1", "i-1") },
    { ifname: "wp4" },
    { ifname: "wpa_supplicant", ifalias: "waypoint:x:y" },
  ]);

  expect(parseLinks(json)).toEqual([
    { linkIndex: 3, ownerKey: "a1", instanceId: "i-1" },
    { linkIndex: 4, ownerKey: "", instanceId: "" },
  ]);
  expect(parseLinks("")).toEqual([]);
});

test("the chains of a foreign filter table are read with the rules' comments", () => {
  const json = JSON.stringify({
    nftables: [
      { metainfo: {} },
      { chain: { name: "FORWARD", policy: "drop" } },
      { chain: { name: "DOCKER-USER" } },
      { rule: { chain: "DOCKER-USER", handle: 7, comment: "waypoint a1" } },
      { rule: { chain: "FORWARD", handle: 8 } },
    ],
  });

  expect(parseFilterChains(json)).toEqual([
    { chain: "FORWARD", policy: "drop", rules: [{ handle: 8, comment: null }] },
    { chain: "DOCKER-USER", rules: [{ handle: 7, comment: "waypoint a1" }] },
  ]);
});

test("the host's rules replace their own table only, and lead names on only where needed", () => {
  const plain = buildHostRules({
    ownerKey: "a1",
    range: "10.209.0.0/16",
    forwardDnsTo: null,
    hasIpv6: false,
  });
  const led = buildHostRules({
    ownerKey: "a1",
    range: "10.209.0.0/16",
    forwardDnsTo: "127.0.0.53",
    hasIpv6: true,
  });

  expect(plain).toMatch(/^table ip waypoint_a1\ndelete table ip waypoint_a1\n/);
  expect(plain).not.toContain("dnat");
  expect(plain).not.toContain("ip6");
  expect(led).toContain("dnat to 127.0.0.53");
  expect(led).toContain("ip6 saddr fd57:6179:706f::/48");
});
