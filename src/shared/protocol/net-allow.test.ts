import { expect, test } from "vitest";
import { allowedPorts, parseNetAllow, splitNetAllow } from "./net-allow.ts";

test("names, all names below one, addresses and ranges, each with a port or without", () => {
  const text =
    "allow:API.example.com, *.npmjs.org:443,10.1.2.0/24,192.0.2.7:53,[fd00::1]:443,fd00::/8";
  expect(parseNetAllow(text)).toEqual([
    { kind: "name", name: "api.example.com", isBelow: false, port: null },
    { kind: "name", name: "npmjs.org", isBelow: true, port: 443 },
    { kind: "range", family: 4, range: "10.1.2.0/24", port: null },
    { kind: "range", family: 4, range: "192.0.2.7/32", port: 53 },
    { kind: "range", family: 6, range: "fd00::1/128", port: 443 },
    { kind: "range", family: 6, range: "fd00::/8", port: null },
  ]);
  expect(splitNetAllow(text).slice(0, 2)).toEqual(["api.example.com", "*.npmjs.org:443"]);
});

test.each([
  ...["nat", "allow:", "allow:,", "allow:*", "allow:*.*.org", "allow:a b", "allow:a.b:0"],
  ...[
    "allow:a.b:65536",
    "allow:10.0.0.0/33",
    "allow:10.0.0",
    "allow:300.1.1.1",
    "allow:fd00::/129",
  ],
  ...["allow:a/24", "allow:[a.b]:1", "allow:-a.b", `allow:${"a.".repeat(130)}b`],
  ...["allow:a.b;reject", "allow:a.b }", "allow:a.b\nadd", `allow:${"a.b,".repeat(101)}`],
])("%j is no list", (text) => {
  expect(parseNetAllow(text)).toBeNull();
});

test("a name is allowed by the ports of all entries that it fits", () => {
  const entries = parseNetAllow("allow:a.example.com:80,*.example.com:443,a.example.com:80") ?? [];
  expect(allowedPorts(entries, "a.example.com")).toEqual([80, 443]);
  expect(allowedPorts(entries, "b.a.example.com")).toEqual([443]);
  expect(allowedPorts(entries, "example.com")).toBeUndefined();
  expect(allowedPorts(entries, "evil-example.com")).toBeUndefined();
});
