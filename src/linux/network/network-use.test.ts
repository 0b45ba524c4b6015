import { readdirSync } from "node:fs";
import process from "node:process";
import { expect, test } from "vitest";
import { hasNoCount, hasNoPacket, hasNoSocket, NetworkUse, NetworkUses } from "./network-use.ts";

const HEAD = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
`;
const LO =
  "    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0\n";
const ETH =
  "  eth0:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0\n";

test("interfaces without a packet are told from those with one, and from none", () => {
  expect(hasNoPacket(HEAD + LO + ETH)).toBe(true);
  expect(hasNoPacket(HEAD + LO.replace(" 0 ", "84 ") + ETH)).toBe(false);
  expect(hasNoPacket(HEAD + LO + ETH.replace(/0\n$/, "1\n"))).toBe(false);
  // Dropped before it was sent.
  expect(hasNoPacket(HEAD + LO + ETH.replace("0    0     0       0", "0    1     0       0"))).toBe(
    false,
  );
  expect(hasNoPacket(HEAD)).toBe(false);
  expect(hasNoPacket("")).toBe(false);
});

test("a socket that is there, or waits for its end, is seen", () => {
  const rest = "UDP: inuse 0 mem 0\nRAW: inuse 0\nFRAG: inuse 0 memory 0\n";
  const tcp = "TCP: inuse 0 orphan 0 tw 0 alloc 3 mem 299\n";
  expect(hasNoSocket(`sockets: used 0\n${tcp}${rest}`)).toBe(true);
  expect(hasNoSocket(`sockets: used 1\n${tcp}${rest}`)).toBe(false);
  expect(hasNoSocket(`sockets: used 0\n${tcp.replace("tw 0", "tw 2")}${rest}`)).toBe(false);
  expect(
    hasNoSocket(`sockets: used 0\n${tcp}${rest.replace("RAW: inuse 0", "RAW: inuse 1")}`),
  ).toBe(false);
  const waits = rest.replace("FRAG: inuse 0 memory 0", "FRAG: inuse 1 memory 1032");
  expect(hasNoSocket(`sockets: used 0\n${tcp}${waits}`)).toBe(false);
  expect(hasNoSocket("")).toBe(false);
});

test("what the kernel counts is told from what it was told", () => {
  const names = "Ip: Forwarding DefaultTTL InReceives\n";
  expect(hasNoCount(`${names}Ip: 1 64 0\nUdp: OutDatagrams\nUdp: 0\n`)).toBe(true);
  expect(hasNoCount(`${names}Ip: 1 64 3\n`)).toBe(false);
  expect(hasNoCount(`${names}Ip: 1 64\n`)).toBe(false);
  expect(hasNoCount(names)).toBe(false);
  expect(hasNoCount("")).toBe(false);
});

test("a process tells of its own network alone, and one that has ended of none", () => {
  using use = NetworkUse.ofProcess(process.pid, "/proc/self/ns/net");
  expect(use?.isUntouched()).toBe(false);
  expect(NetworkUse.ofProcess(process.pid, "/proc/self/ns/uts")).toBeNull();
  expect(NetworkUse.ofProcess(2 ** 22 + 1, "/proc/self/ns/net")).toBeNull();
});

test("nothing of what was looked at stays open", () => {
  const open = () => readdirSync("/proc/self/fd").length;
  const before = open();
  const uses = new NetworkUses();
  uses.beforeEnd("a", process.pid, "/proc/self/ns/net");
  expect(open()).toBe(before);
  uses.made("a");
  uses.beforeEnd("a", process.pid, "/proc/self/ns/net");
  uses.beforeEnd("a", process.pid, "/proc/self/ns/net");
  expect(open()).toBeGreaterThan(before);
  expect(uses.endsUntouched("a")).toBe(false);
  uses.beforeEnd("a", process.pid, "/proc/self/ns/net");
  uses.forget("a");
  expect(open()).toBe(before);
});
