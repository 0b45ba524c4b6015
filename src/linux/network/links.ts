import { runProcess } from "../../base/index.ts";

/** A link of a session, as the host sees it. */
export interface SessionLink {
  linkIndex: number;
  ownerKey: string;
  instanceId: string;
}

/** What a link says about itself; it outlives the daemon. */
export function linkAlias(ownerKey: string, instanceId: string): string {
  return `waypoint:${ownerKey}:${instanceId}`;
}

/** Returns the links of all daemons on this host. */
export async function readLinks(): Promise<SessionLink[]> {
  const { stdout } = await runProcess(["ip", "-j", "link", "show", "type", "veth"]);
  return parseLinks(stdout);
}

/** Parses `ip -j link show`; a link without an alias is one that is just being made. */
export function parseLinks(json: string): SessionLink[] {
  const links = JSON.parse(json === "" ? "[]" : json) as { ifname?: string; ifalias?: string }[];
  return links.flatMap(({ ifname = "", ifalias = "" }) => {
    const number = /^wp(\d+)$/.exec(ifname)?.[1];
    if (number === undefined) return [];
    const [, ownerKey = "", instanceId = ""] = /^waypoint:([^:]+):(.+)$/.exec(ifalias) ?? [];
    return [{ linkIndex: Number(number), ownerKey, instanceId }];
  });
}
