import { ipv6LinkAddresses } from "./ipv6.ts";

/** How many links one range has: a /16 of pairs. */
export const LINKS_MAX = 32_768;

/** Tried in this order; the first that overlaps no route of the host is taken. */
const RANGE_CANDIDATES = [
  ...[209, 210, 211, 212, 213, 214, 215].map((second) => `10.${second}.0.0/16`),
  ...[29, 30, 31].map((second) => `172.${second}.0.0/16`),
];

/** The two ends of a link. */
export interface LinkAddresses {
  linkName: string;
  hostAddress: string;
  sessionAddress: string;
  /** Null where sessions have no IPv6. */
  ipv6: { hostAddress: string; sessionAddress: string } | null;
}

/**
 * Returns the names and addresses of link number `linkIndex`.
 *
 * Interface names are unique in the kernel, so making `wp<N>` is what reserves the number, and with
 * it the two addresses, also against daemons with other state directories.
 */
export function linkAddresses(range: string, linkIndex: number, hasIpv6 = false): LinkAddresses {
  const base = parseCidr(range).first + 2 * linkIndex;
  return {
    linkName: `wp${linkIndex}`,
    hostAddress: formatAddress(base),
    sessionAddress: formatAddress(base + 1),
    ipv6: hasIpv6 ? ipv6LinkAddresses(linkIndex) : null,
  };
}

/** Returns the number of the link whose session has this address; `null` of any other address. */
export function linkIndexOf(range: string, sessionAddress: string): number | null {
  const { first, last } = parseCidr(range);
  const address = parseCidr(sessionAddress).first;
  return address < first || address > last ? null : Math.floor((address - first) / 2);
}

/**
 * Returns a range for the links that overlaps none of the host's routes.
 *
 * @param routes  destinations as `ip -4 -o route show table all` prints them, without those of our
 * own links; "default" overlaps nothing.
 */
export function chooseLinkRange(routes: readonly string[]): string | undefined {
  const taken = routes.filter((route) => /^\d/.test(route)).map((route) => parseCidr(route));
  return RANGE_CANDIDATES.find((candidate) => {
    const { first, last } = parseCidr(candidate);
    return taken.every((route) => route.last < first || route.first > last);
  });
}

/** Returns the destinations of `ip -4 -o route show table all`, except through our own links. */
export function parseRoutes(output: string): string[] {
  return output.split("\n").flatMap((line) => {
    const words = line.trim().split(/\s+/);
    const device = words[words.indexOf("dev") + 1] ?? "";
    if (words.includes("dev") && /^wp\d+$/.test(device)) return [];
    // A type such as "local" or "broadcast" precedes the destination.
    return words
      .slice(0, 2)
      .filter((word) => /^\d/.test(word))
      .slice(0, 1);
  });
}

function parseCidr(text: string): { first: number; last: number } {
  const [address = "", bits = "32"] = text.split("/");
  const parts = address.split(".").map(Number);
  const value = [0, 1, 2, 3].reduce((sum, index) => sum * 256 + (parts[index] ?? 0), 0);
  const sizeAddresses = 2 ** (32 - Number(bits));
  const first = value - (value % sizeAddresses);
  return { first, last: first + sizeAddresses - 1 };
}

function formatAddress(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}
