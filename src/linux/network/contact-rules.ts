import type { NetAllowEntry } from "../../shared/protocol/index.ts";

/** Of one session, for each family, and there and back counted apart; more is added up. */
const CONTACTS_MAX = 2048;
/** Addresses of allowed names that are open at a time, for each family. */
const OPEN_ADDRESSES_MAX = 4096;

const FAMILIES = [
  { suffix: "", proto: "ipv4", set: "ipv4", type: "ipv4_addr", header: "ip" },
  { suffix: "6", proto: "ipv6", set: "ipv6", type: "ipv6_addr", header: "ip6" },
] as const;

/** The last part of what is counted. */
export const SENT = 0;
const RECEIVED = 1;

const WITH_PORTS = "meta l4proto { tcp, udp, sctp, dccp }";
const NEIGHBOURS =
  "icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, nd-router-solicit, mld-listener-report, mld2-listener-report } return";

/** The table of one daemon that counts what its sessions talk to, and holds what they may not. */
export function contactTable(ownerKey: string): string {
  return `inet waypoint_contacts_${ownerKey}`;
}

/**
 * Returns the nft commands for that table; what it has of links stays.
 *
 * Links are known by their index, which the kernel gives to no other one: rules that a killed daemon
 * has left of a link that is gone fit nothing.
 */
export function buildContactTable(ownerKey: string): string {
  const table = contactTable(ownerKey);
  const chain = (name: string, hook: string, rules: readonly string[]) =>
    [
      `add chain ${table} ${name} { ${hook}; }`,
      `flush chain ${table} ${name}`,
      ...rules.map((rule) => `add rule ${table} ${name} ${rule}`),
    ].join("\n");
  return `add table ${table}
add map ${table} out { type iface_index : verdict; }
add map ${table} back { type iface_index : verdict; }
add map ${table} names { type iface_index : verdict; }
${chain("forward", "type filter hook forward priority filter + 1", ["iif vmap @out", "oif vmap @back"])}
${chain("input", "type filter hook input priority filter + 1", ["iif vmap @out"])}
${chain("output", "type filter hook output priority filter + 1", ["oif vmap @back"])}
${chain("prerouting", "type nat hook prerouting priority dstnat - 1", ["iif vmap @names"])}
`;
}

/** Returns the nft commands that begin to count on a link that is there; what was left of one goes. */
export function buildLinkCounters(ownerKey: string, linkIndex: number): string {
  const table = contactTable(ownerKey);
  const rule = (chain: string, text: string) => `add rule ${table} ${chain}_${linkIndex} ${text}`;
  const more = (direction: number) => `0.0.0.0 . 0 . 0 . ${direction} counter`;
  const count = (chain: string, direction: typeof SENT | typeof RECEIVED) => {
    const [address, port] = direction === SENT ? ["daddr", "dport"] : ["saddr", "sport"];
    return [
      ...FAMILIES.flatMap(({ proto, header, set }) => {
        const update = (last: string) =>
          `update @${set}_${linkIndex} { ${header} ${address} . meta l4proto . ${last} . ${direction} counter } return`;
        return [
          rule(chain, `meta nfproto ${proto} ${WITH_PORTS} ${update(`th ${port}`)}`),
          rule(chain, `meta nfproto ${proto} ${update("0")}`),
        ];
      }),
      // What has no room is added up: this element is there from the beginning.
      rule(chain, `update @ipv4_${linkIndex} { ${more(direction)} }`),
    ];
  };
  return [
    ...["out", "back", "count"].map((name) => {
      const chain = `chain ${table} ${name}_${linkIndex}`;
      return `add ${chain}\nflush ${chain}`;
    }),
    ...FAMILIES.map(({ set: name, type }) => {
      const set = `set ${table} ${name}_${linkIndex}`;
      const key = `${type} . inet_proto . inet_service . inet_service`;
      return `add ${set} { type ${key}; flags dynamic; size ${CONTACTS_MAX}; }\nflush ${set}`;
    }),
    `add element ${table} ipv4_${linkIndex} { ${more(SENT)}, ${more(RECEIVED)} }`,
    rule("out", "ct direction reply return"),
    rule("out", "ip daddr 127.0.0.0/8 return"),
    rule("out", NEIGHBOURS),
    rule("out", `goto count_${linkIndex}`),
    ...count("count", SENT),
    rule("back", "ct direction original return"),
    rule("back", "ip saddr 127.0.0.0/8 return"),
    rule("back", NEIGHBOURS),
    ...count("back", RECEIVED),
    `add element ${table} out { wp${linkIndex} : jump out_${linkIndex} }`,
    `add element ${table} back { wp${linkIndex} : jump back_${linkIndex} }`,
    "",
  ].join("\n");
}

/** Returns the nft commands that end the counting, while the link is there. */
export function buildCountersRemoval(ownerKey: string, linkIndex: number): string {
  const table = contactTable(ownerKey);
  const chains = ["out", "back", "count"].map((name) => `chain ${table} ${name}_${linkIndex}`);
  return [
    `delete element ${table} out { wp${linkIndex} }`,
    `delete element ${table} back { wp${linkIndex} }`,
    ...chains.map((chain) => `flush ${chain}`),
    ...chains.map((chain) => `delete ${chain}`),
    ...FAMILIES.map(({ set }) => `delete set ${table} ${set}_${linkIndex}`),
    "",
  ].join("\n");
}

/**
 * Returns the nft commands after which a session reaches nothing but what is listed and its
 * forwarder of names, in one transaction. What is open already stays open.
 *
 * A rejection over TCP is a reset: of the other kind the kernel sends no more than one in a second.
 */
export function buildAllowList(options: {
  ownerKey: string;
  linkIndex: number;
  entries: readonly NetAllowEntry[];
  /** Where the link's forwarder of names listens on the host's end. */
  forwarderPort: number;
}): string {
  const { ownerKey, linkIndex, entries, forwarderPort } = options;
  const table = contactTable(ownerKey);
  const rule = (chain: string, text: string) => `add rule ${table} ${chain}_${linkIndex} ${text}`;
  const count = `goto count_${linkIndex}`;
  const ranges = entries.flatMap((entry) => {
    if (entry.kind !== "range") return [];
    const header = entry.family === 4 ? "ip" : "ip6";
    const port = entry.port === null ? "" : `meta l4proto { tcp, udp } th dport ${entry.port} `;
    return [rule("out", `${header} daddr ${entry.range} ${port}${count}`)];
  });
  return [
    ...allowSetsOf(linkIndex).map(
      ({ name, type }) =>
        `add set ${table} ${name} { type ${type}; flags timeout; size ${OPEN_ADDRESSES_MAX}; }`,
    ),
    `add chain ${table} names_${linkIndex}`,
    `flush chain ${table} names_${linkIndex}`,
    rule("names", `meta l4proto { tcp, udp } th dport 53 redirect to :${forwarderPort}`),
    `add element ${table} names { wp${linkIndex} : jump names_${linkIndex} }`,
    `flush chain ${table} out_${linkIndex}`,
    rule("out", "ct direction reply return"),
    rule(
      "out",
      `fib daddr type local ct status dnat meta l4proto { tcp, udp } th dport ${forwarderPort} return`,
    ),
    rule("out", NEIGHBOURS),
    rule("out", `ct state established,related ${count}`),
    ...ranges,
    ...FAMILIES.flatMap(({ suffix, header }) => [
      rule("out", `${header} daddr @any${suffix}_${linkIndex} ${count}`),
      rule(
        "out",
        `meta l4proto { tcp, udp } ${header} daddr . th dport @port${suffix}_${linkIndex} ${count}`,
      ),
    ]),
    rule("out", "meta l4proto tcp reject with tcp reset"),
    rule("out", "reject with icmpx type admin-prohibited"),
    "",
  ].join("\n");
}

/** Returns the nft commands that take such a list away, while the link is there. */
export function buildAllowListRemoval(ownerKey: string, linkIndex: number): string {
  const table = contactTable(ownerKey);
  return [
    `delete element ${table} names { wp${linkIndex} }`,
    `flush chain ${table} names_${linkIndex}`,
    `delete chain ${table} names_${linkIndex}`,
    `flush chain ${table} out_${linkIndex}`,
    ...allowSetsOf(linkIndex).map(({ name }) => `delete set ${table} ${name}`),
    "",
  ].join("\n");
}

/** Returns the nft commands that open addresses of an allowed name for a time. */
export function buildOpening(options: {
  ownerKey: string;
  linkIndex: number;
  addresses: readonly { address: string; openS: number }[];
  /** `null` is any port. */
  ports: readonly (number | null)[];
}): string {
  const { ownerKey, linkIndex, addresses, ports } = options;
  const table = contactTable(ownerKey);
  return addresses
    .flatMap(({ address, openS }) =>
      ports.flatMap((port) => {
        const set = `${port === null ? "any" : "port"}${address.includes(":") ? "6" : ""}_${linkIndex}`;
        const key = port === null ? address : `${address} . ${port}`;
        const element = (timeout: string) => `element ${table} ${set} { ${key}${timeout} }`;
        // What is there keeps its time, unless it is put there anew.
        return [
          `add ${element(" timeout 1h")}`,
          `delete ${element("")}`,
          `add ${element(` timeout ${openS}s`)}`,
        ];
      }),
    )
    .concat("")
    .join("\n");
}

/** Returns the sets that hold what was counted on a link, as words of an nft command. */
export function counterSets(ownerKey: string, linkIndex: number, hasIpv6: boolean): string[][] {
  const families = FAMILIES.filter(({ proto }) => proto === "ipv4" || hasIpv6);
  return families.map(({ set }) => [...contactTable(ownerKey).split(" "), `${set}_${linkIndex}`]);
}

function allowSetsOf(linkIndex: number): { name: string; type: string }[] {
  return FAMILIES.flatMap(({ suffix, type }) => [
    { name: `any${suffix}_${linkIndex}`, type },
    { name: `port${suffix}_${linkIndex}`, type: `${type} . inet_service` },
  ]);
}
