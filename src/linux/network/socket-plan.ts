import { isIPv4, isIPv6 } from "node:net";
import { INNER_ADDRESS_IPV6 } from "./ipv6.ts";
import { INNER_ADDRESS } from "./session-commands.ts";

/** Every session has these; sockets take a missing IPv6 address of their own as it is. */
const OWN_IPV6 = ["::1", INNER_ADDRESS_IPV6];

/** One end of a connection. */
interface SocketEnd {
  address: string;
  port: number;
}

/** A socket that is to be brought back in a namespace. */
export interface RestoredSocket {
  protocol: "tcp" | "udp";
  local: SocketEnd;
  remote: SocketEnd | null;
  /** What it has to send that its other end has not acknowledged. */
  queuedBytes: number;
}

/** A socket with another end. */
export interface Connection extends RestoredSocket {
  remote: SocketEnd;
}

/** What a namespace must pretend and hold back while sockets come back, and what to close then. */
export interface SocketPlan {
  /** TCP connections whose other end does not come back. */
  connections: Connection[];
  /** Addresses of a former link that they have; the kernel wants them to be there. */
  addresses: string[];
  /** Those of sockets that wait for others, which stay. */
  addressesKept: string[];
  /** Whether the kernel wants a route for one of them. */
  needsRoute: boolean;
  needsIpv6Route: boolean;
  /**
   * TCP connections that have to be silent until all are back: a sender that comes back before its
   * other end would be told by the kernel that there is none.
   */
  senders: Connection[];
}

/**
 * Returns what the sockets need in order to come back, null if nothing.
 *
 * A connection is inside if its other end is among the sockets as well: the address tells nothing,
 * since a forwarded connection comes from the loopback.
 */
export function planSockets(sockets: readonly RestoredSocket[]): SocketPlan | null {
  const ends = new Set(sockets.map(({ local, remote }) => `${keyOf(local)} ${keyOf(remote)}`));
  const connected = sockets.filter((socket): socket is Connection => socket.remote !== null);
  const isForeign = ({ local }: RestoredSocket) => isLinkAddress(local.address);
  const plan: SocketPlan = {
    connections: connected.filter(
      ({ protocol, local, remote }) =>
        protocol === "tcp" && !ends.has(`${keyOf(remote)} ${keyOf(local)}`),
    ),
    addresses: addressesOf(connected.filter(isForeign)),
    addressesKept: addressesOf(sockets.filter(({ remote }) => remote === null).filter(isForeign)),
    needsRoute: connected.some(({ remote }) => isLinkAddress(remote.address)),
    needsIpv6Route: connected.some(
      ({ remote }) => isIPv6(remote.address) && !OWN_IPV6.includes(remote.address),
    ),
    senders: connected.filter(({ queuedBytes }) => queuedBytes > 0),
  };
  const { connections, addresses, addressesKept, senders } = plan;
  const isEmpty = [connections, addresses, addressesKept, senders].every(
    (list) => list.length === 0,
  );
  return isEmpty && !plan.needsRoute && !plan.needsIpv6Route ? null : plan;
}

/**
 * Returns what sockets need in order to come back on the host's own network, whose addresses and
 * routes are there already; null if nothing.
 */
export function planSocketsOnHost(sockets: readonly RestoredSocket[]): SocketPlan | null {
  const plan = planSockets(sockets);
  if (plan === null || plan.connections.length + plan.senders.length === 0) return null;
  const { connections, senders } = plan;
  const nothing = { addresses: [], addressesKept: [], needsRoute: false, needsIpv6Route: false };
  return { connections, senders, ...nothing };
}

function addressesOf(sockets: readonly RestoredSocket[]): string[] {
  return [...new Set(sockets.map(({ local }) => local.address))];
}

/** Tells whether an address is none of those that every session has. */
function isLinkAddress(address: string): boolean {
  if (!isIPv4(address)) return false;
  return !address.startsWith("127.") && address !== "0.0.0.0" && address !== INNER_ADDRESS;
}

function keyOf(end: SocketEnd | null): string {
  return end === null ? "" : `${end.address} ${end.port}`;
}
