import { expect, test } from "vitest";
import { buildAllowList, buildOpening, counterSets } from "./contact-rules.ts";
import { parseCounters } from "./parse-counters.ts";

const LISTED = JSON.stringify({
  nftables: [
    { metainfo: { version: "1.0.6" } },
    {
      set: {
        elem: [
          counted(["192.0.2.7", "tcp", 443, 0], 12_000),
          counted(["192.0.2.7", "tcp", 443, 1], 3000),
          counted(["192.0.2.7", "icmp", 0, 0], 84),
          counted(["0.0.0.0", "ip", 0, 0], 500),
          { concat: ["192.0.2.8", "tcp", 1, 0] },
        ],
      },
    },
  ],
});

function counted(concat: (string | number)[], bytes: number) {
  return { elem: { val: { concat }, counter: { packets: 1, bytes } } };
}

test("both directions of a contact are one, and what had no room is added up", () => {
  expect(parseCounters([LISTED, '{"nftables": [{"set": {}}]}'])).toEqual({
    contacts: [
      { address: "192.0.2.7", protocol: "tcp", port: 443, sentBytes: 12_000, receivedBytes: 3000 },
      { address: "192.0.2.7", protocol: "icmp", port: null, sentBytes: 84, receivedBytes: 0 },
    ],
    more: { sentBytes: 500, receivedBytes: 0 },
  });
});

test("a family that sessions do not have is not asked for", () => {
  expect(counterSets("k", 3, false)).toEqual([["inet", "waypoint_contacts_k", "ipv4_3"]]);
  expect(counterSets("k", 3, true)).toHaveLength(2);
});

test("ranges come before the end, which rejects all else at once", () => {
  const entries = [{ kind: "range", family: 4, range: "10.1.2.0/24", port: 443 }] as const;
  const rules = buildAllowList({ ownerKey: "k", linkIndex: 3, entries, forwarderPort: 5353 })
    .split("\n")
    .filter((line) => line.startsWith("add rule inet waypoint_contacts_k out_3"));
  expect(
    rules.findIndex((rule) =>
      rule.includes("10.1.2.0/24 meta l4proto { tcp, udp } th dport 443 goto"),
    ),
  ).toBe(4);
  expect(rules.slice(-2)).toEqual([
    expect.stringContaining("meta l4proto tcp reject with tcp reset"),
    expect.stringContaining("reject with icmpx type admin-prohibited"),
  ]);
});

test("an address is opened by each port, for its time", () => {
  const addresses = [{ address: "fd00::7", openS: 300 }];
  const opening = buildOpening({ ownerKey: "k", linkIndex: 3, addresses, ports: [443, null] });
  expect(opening).toContain(
    "add element inet waypoint_contacts_k port6_3 { fd00::7 . 443 timeout 300s }",
  );
  expect(opening).toContain("add element inet waypoint_contacts_k any6_3 { fd00::7 timeout 300s }");
});
