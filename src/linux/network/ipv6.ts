import { readFile } from "node:fs/promises";
import { runProcess } from "../../base/index.ts";

/** A unique local prefix (RFC 4193); its subnets are the numbers of the links. */
const PREFIX = "fd57:6179:706f";

/** All links of all daemons. */
export const IPV6_RANGE = `${PREFIX}::/48`;

/** What {@link INNER_ADDRESS} is for IPv4; no link has this number. */
export const INNER_ADDRESS_IPV6 = `${PREFIX}:ffff::2`;

/** Returns the IPv6 addresses of link number `linkIndex`; the number reserves them. */
export function ipv6LinkAddresses(linkIndex: number): {
  hostAddress: string;
  sessionAddress: string;
} {
  const subnet = `${PREFIX}:${linkIndex.toString(16)}`;
  return { hostAddress: `${subnet}::1`, sessionAddress: `${subnet}::2` };
}

/**
 * Tells whether sessions get IPv6: the host has a way out and forwards already.
 *
 * We do not switch that forwarding on: a host that forwards no longer listens to router
 * advertisements, and most hosts have their own default route from those.
 */
export async function canForwardIpv6(): Promise<boolean> {
  const path = "/proc/sys/net/ipv6/conf/all/forwarding";
  const setting = await readFile(path, "utf8").catch(() => "0");
  if (setting.trim() !== "1") return false;
  const routes = await runProcess(["ip", "-6", "route", "show", "default"], {
    okExitCodes: [0, 1, 2],
  });
  return routes.stdout.trim() !== "";
}
