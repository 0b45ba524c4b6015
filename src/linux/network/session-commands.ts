import { INNER_ADDRESS_IPV6 } from "./ipv6.ts";
import type { LinkAddresses } from "./link-addresses.ts";
import type { LinkStep } from "./link-maker.ts";
import type { SocketPlan } from "./socket-plan.ts";

/**
 * Address that every session has on its lo and that its connections come from. A restored process
 * finds it there, whatever link its namespace got; 100.64.0.0/10 is no address of the internet.
 */
export const INNER_ADDRESS = "100.64.0.2";

/** Name of the link inside a session. */
const INNER_LINK_NAME = "eth0";

/** A default route that every other one is preferred to. */
const ROUTE_TO_NOWHERE = `default dev lo src ${INNER_ADDRESS} metric 4294967295`;

const IPV6_ROUTE_TO_NOWHERE = "::/0 dev lo metric 4294967294";

/** The kernel's program for a filter has at most 64 KiB. */
const FILTERS_AT_ONCE = 200;

/** Returns the steps that make a namespace at `netnsPath`, with what it needs before a restore. */
export function buildNamespaceSteps(
  netnsPath: string,
  plan: SocketPlan | null,
  hasIpv6: boolean,
): LinkStep[] {
  return [
    { kind: "namespace", place: netnsPath, text: "" },
    { kind: "ip", place: netnsPath, text: buildNamespaceBatch(plan, hasIpv6) },
  ];
}

/**
 * Returns what a namespace needs before CRIU restores into it.
 *
 * A socket comes back only if its address is there and there is a route to its peer. The route
 * leads nowhere: a packet that lo sends to another's address is dropped.
 */
export function buildNamespaceBatch(plan: SocketPlan | null, hasIpv6 = false): string {
  const addresses = [INNER_ADDRESS, ...(plan === null ? [] : formerAddresses(plan))];
  return [
    "link set lo up",
    ...addresses.map((address) => `address add ${address}/32 dev lo`),
    ...(hasIpv6 ? [`address add ${INNER_ADDRESS_IPV6}/128 dev lo nodad`] : []),
    ...(plan?.needsRoute === true ? [`route add ${ROUTE_TO_NOWHERE}`] : []),
    ...(plan?.needsIpv6Route === true ? [`route add ${IPV6_ROUTE_TO_NOWHERE}`] : []),
    "",
  ].join("\n");
}

/**
 * Returns the shell script that closes the connections whose other end did not come back, and then
 * lets the sockets speak.
 *
 * The programs read ECONNABORTED. What the kernel sends to the peers goes nowhere, since this runs
 * before there is a way out: at the other end the original's connection lives on.
 *
 * @param options.link  made by {@link buildConnectSteps} with `isHeld`, opened then.
 */
export function buildReleaseScript(options: {
  /** Null for the host's own network. */
  netnsPath: string | null;
  plan: SocketPlan;
  link: LinkAddresses | null;
  /** Table that keeps the plan's senders silent. */
  egressHold: string;
}): string {
  const { netnsPath, plan, link, egressHold } = options;
  const filters = plan.connections.map(
    ({ local, remote }) => `( src ${endpoint(local)} and dst ${endpoint(remote)} )`,
  );
  const groups = Array.from({ length: Math.ceil(filters.length / FILTERS_AT_ONCE) }, (_, index) =>
    filters.slice(index * FILTERS_AT_ONCE, (index + 1) * FILTERS_AT_ONCE),
  );
  const kept = new Set(plan.addressesKept);
  const removed = plan.addresses.filter((address) => !kept.has(address));
  const batch = [
    ...removed.map((address) => `address delete ${address}/32 dev lo`),
    ...(plan.needsRoute ? [`route delete ${ROUTE_TO_NOWHERE}`] : []),
    ...(plan.needsIpv6Route ? [`route delete ${IPV6_ROUTE_TO_NOWHERE}`] : []),
    ...(link === null ? [] : buildWayOut(link)),
  ];
  const inside = netnsPath === null ? "" : `${enter(netnsPath)} `;
  const close = (group: string[]) =>
    `${inside}ss --kill --tcp state connected '${group.join(" or ")}' >/dev/null`;
  const tidy = `${inside}ip -batch - <<'END'\n${batch.join("\n")}\nEND`;
  const speak = `${inside}nft delete table inet ${egressHold}`;
  return [
    ...groups.map(close),
    ...(plan.senders.length > 0 ? [speak] : []),
    ...(batch.length > 0 ? [tidy] : []),
    "",
  ].join("\n");
}

function formerAddresses({ addresses, addressesKept }: SocketPlan): string[] {
  return [...new Set([...addresses, ...addressesKept])];
}

function endpoint({ address, port }: { address: string; port: number }): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

/**
 * Returns the steps that link a namespace to the host.
 *
 * The first one reserves the link's number: it fails with "File exists" if another daemon has it, and
 * nothing was done then. No IPv6 address is generated, so the link has no neighbour discovery to wait
 * for.
 */
export function buildConnectSteps(options: {
  netnsPath: string;
  link: LinkAddresses;
  alias: string;
  /** What counts on the link, as nft commands. */
  counters: string;
  /** Leaves the session's end down, for {@link buildReleaseScript}. */
  isHeld: boolean;
}): LinkStep[] {
  const { netnsPath, link, alias, counters, isHeld } = options;
  const onHost = [
    `link add name ${link.linkName} type veth peer name ${INNER_LINK_NAME} netns ${netnsPath}`,
    `link set dev ${link.linkName} alias ${alias} addrgenmode none up`,
    `address add ${link.hostAddress}/31 dev ${link.linkName}`,
    ...(link.ipv6 === null ? [] : buildIpv6Addresses(link.linkName, 1, link.ipv6.hostAddress)),
  ];
  const families = ["ip", ...(link.ipv6 === null ? [] : ["ip6"])];
  return [
    { kind: "ip", place: null, text: asText(onHost) },
    { kind: "nft", place: netnsPath, text: families.map(buildTranslation).join("") },
    { kind: "nft", place: null, text: counters },
    ...(isHeld ? [] : [{ kind: "ip", place: netnsPath, text: asText(buildWayOut(link)) } as const]),
  ];
}

function asText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

function buildTranslation(family: string): string {
  return `table ${family} waypoint {
  chain postrouting {
    type nat hook postrouting priority srcnat
    oifname ${INNER_LINK_NAME} masquerade
  }
}
`;
}

/** Neighbours ask each other from a link-local address; those of the kernel's come too late. */
function buildIpv6Addresses(device: string, end: 1 | 2, address: string): string[] {
  return [
    `address add fe80::${end}/64 dev ${device} nodad`,
    `address add ${address}/126 dev ${device} nodad`,
  ];
}

/** Opens the session's end of a link. */
function buildWayOut(link: LinkAddresses): string[] {
  return [
    `link set dev ${INNER_LINK_NAME} addrgenmode none up`,
    `address add ${link.sessionAddress}/31 dev ${INNER_LINK_NAME}`,
    `route add default via ${link.hostAddress} dev ${INNER_LINK_NAME} src ${INNER_ADDRESS}`,
    ...(link.ipv6 === null
      ? []
      : [
          ...buildIpv6Addresses(INNER_LINK_NAME, 2, link.ipv6.sessionAddress),
          `route add ::/0 via ${link.ipv6.hostAddress} dev ${INNER_LINK_NAME} src ${INNER_ADDRESS_IPV6}`,
        ]),
  ];
}

function enter(netnsPath: string): string {
  return `nsenter --net=${netnsPath} --`;
}
