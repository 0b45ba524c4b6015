import { isIPv6 } from "node:net";

/**
 * Address under which sessions find a name server of the host's loopback. It is the same for every
 * session, because a checkpoint carries its resolv.conf into forks with other links.
 */
export const RESOLVER_ADDRESS = "100.64.0.1";

/** Means another machine on a session's link than on the host's. */
const LINK_LOCAL = /^fe[89ab]/i;

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/**
 * Returns the content of a session's /etc/resolv.conf.
 *
 * Name servers that a session can reach are kept. Where there are none but one on the host's
 * loopback, `gateway` stands for it and the host's rules lead there.
 *
 * @param hasIpv6  whether sessions have it; without, they reach no name server by it.
 */
export function resolvConfFor(hostResolvConf: string, gateway: string, hasIpv6: boolean): string {
  const servers = nameServersOf(hostResolvConf);
  const reachable = servers.filter((server) => isReachable(server, hasIpv6));
  const used = reachable.length > 0 ? reachable : servers.some(isLoopback) ? [gateway] : [];
  const others = hostResolvConf
    .split("\n")
    .filter((line) => /^\s*(?:search|domain|options)\s/.test(line));
  return [...used.map((server) => `nameserver ${server}`), ...others, ""].join("\n");
}

/** Returns the host's loopback name server that sessions have to be led to, null if none. */
export function loopbackServerOf(hostResolvConf: string, hasIpv6: boolean): string | null {
  const servers = nameServersOf(hostResolvConf);
  if (servers.some((server) => isReachable(server, hasIpv6))) return null;
  const loopback = servers.find((server) => isLoopback(server));
  // The rules are for IPv4; whoever listens on ::1 listens on 127.0.0.1 as well.
  return loopback === "::1" ? "127.0.0.1" : (loopback ?? null);
}

/** Tells whether every name server is on the loopback, as with systemd-resolved's stub. */
export function hasOnlyLoopbackServers(resolvConf: string): boolean {
  const servers = nameServersOf(resolvConf);
  return servers.length > 0 && servers.every((server) => isLoopback(server));
}

/** Returns the name servers of a resolv.conf, in its order. */
export function nameServersOf(resolvConf: string): string[] {
  return resolvConf.split("\n").flatMap((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? []);
}

function isLoopback(server: string): boolean {
  return server === "::1" || (IPV4.test(server) && server.startsWith("127."));
}

function isReachable(server: string, hasIpv6: boolean): boolean {
  if (isLoopback(server)) return false;
  return IPV4.test(server) || (hasIpv6 && isIPv6(server) && !LINK_LOCAL.test(server));
}
