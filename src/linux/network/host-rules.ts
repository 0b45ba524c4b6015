import { buildContactTable } from "./contact-rules.ts";
import { IPV6_RANGE } from "./ipv6.ts";
import { RESOLVER_ADDRESS } from "./resolv-conf.ts";

/** Matches the links of all daemons. */
const ALL_LINKS = "wp*";

/** Name of the nft table of one owner. */
export function hostTableName(ownerKey: string): string {
  return `waypoint_${ownerKey}`;
}

/**
 * Returns the nft commands that put the host's rules in place, in one transaction: idempotent, and
 * without a moment in which they are missing.
 */
export function buildHostRules(options: {
  ownerKey: string;
  range: string;
  /** Name server on the host's loopback that sessions shall reach, null if there is no need. */
  forwardDnsTo: string | null;
  hasIpv6: boolean;
}): string {
  const { ownerKey, range, forwardDnsTo, hasIpv6 } = options;
  const table = `ip ${hostTableName(ownerKey)}`;
  return `table ${table}
delete table ${table}
table ${table} {
  chain postrouting {
    type nat hook postrouting priority srcnat
    ip saddr ${range} oifname != "${ALL_LINKS}" masquerade
  }
  chain forward {
    type filter hook forward priority filter
    iifname "${ALL_LINKS}" oifname "${ALL_LINKS}" drop
  }
${forwardDnsTo === null ? "" : dnsChains(forwardDnsTo)}}
${hasIpv6 ? buildIpv6Rules(ownerKey) : ""}${buildContactTable(ownerKey)}`;
}

/** The same for IPv6, which has no rp_filter: the rule looks where the sender would be reached. */
function buildIpv6Rules(ownerKey: string): string {
  const table = `ip6 ${hostTableName(ownerKey)}`;
  return `table ${table}
delete table ${table}
table ${table} {
  chain postrouting {
    type nat hook postrouting priority srcnat
    ip6 saddr ${IPV6_RANGE} oifname != "${ALL_LINKS}" masquerade
  }
  chain forward {
    type filter hook forward priority filter
    iifname "${ALL_LINKS}" oifname "${ALL_LINKS}" drop
    iifname "${ALL_LINKS}" fib saddr . iif oif missing drop
  }
}
`;
}

/**
 * A resolver on the loopback often answers loopback clients only, hence the second translation.
 * Links with a way to the loopback must not lead anything else there: a session may make packets
 * of its own, and the host's loopback has the forwarded ports of others.
 */
function dnsChains(nameServer: string): string {
  const dnsOf = (address: string) =>
    `iifname "${ALL_LINKS}" ip daddr ${address} meta l4proto { tcp, udp } th dport 53`;
  return `  chain raw {
    type filter hook prerouting priority raw
    iifname "${ALL_LINKS}" ip daddr 127.0.0.0/8 drop
  }
  chain prerouting {
    type nat hook prerouting priority dstnat
    ${dnsOf(RESOLVER_ADDRESS)} dnat to ${nameServer}
  }
  chain input {
    type nat hook input priority 100
    ${dnsOf(nameServer)} snat to 127.0.0.1
  }
`;
}
