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
}

/** What a namespace must pretend to have while sockets come back, and what to close then. */
export interface OutsideSockets {
  /** TCP connections whose other end does not come back. */
  connections: (RestoredSocket & { remote: SocketEnd })[];
  /** Addresses of a former link that they have; the kernel wants them to be there. */
  addresses: string[];
  /** Those of sockets that wait for others, which stay. */
  addressesKept: string[];
  /** Whether the kernel wants a route for one of them. */
  needsRoute: boolean;
  needsIpv6Route: boolean;
}

/**
 * Returns what of the sockets leads to the outside, null if nothing does.
 *
 * A connection is inside if its other end is among the sockets as well: the address tells nothing,
 * since a forwarded connection comes from the loopback.
 */
export function findOutsideSockets(sockets: readonly RestoredSocket[]): OutsideSockets | null {
  const ends = new Set(sockets.map(({ local, remote }) => `${keyOf(local)} ${keyOf(remote)}`));
  const connected = sockets.filter(
    (socket): socket is RestoredSocket & { remote: SocketEnd } => socket.remote !== null,
  );
  const isForeign = ({ local }: RestoredSocket) => isLinkAddress(local.address);
  const found: OutsideSockets = {
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
  };
  const { connections, addresses, addressesKept, needsRoute, needsIpv6Route } = found;
  const isEmpty = connections.length + addresses.length + addressesKept.length === 0;
  return isEmpty && !needsRoute && !needsIpv6Route ? null : found;
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
