import { isIPv4 } from "node:net";
import { runProcess } from "../../base/index.ts";
import type { Connection } from "./socket-plan.ts";

const TABLE_PREFIX = "waypoint_hold_egress_";

/** SOCCR_MARK of CRIU. */
const CRIU_MARK = "0xc114";

/** Name of the nft table, in a namespace or on the host, that holds back what an instance sends. */
export function egressHoldTableName(ownerKey: string, instanceId: string): string {
  return `${TABLE_PREFIX}${ownerKey}_${instanceId.replaceAll("-", "_")}`;
}

/**
 * Returns the nft commands that drop what these connections send. It is sent again later; CRIU's
 * own packets, which rebuild the end of a connection, have a mark.
 */
export function buildEgressHold(table: string, senders: readonly Connection[]): string {
  const rules = senders.map(({ local, remote }) => {
    const family = isIPv4(remote.address) ? "ip" : "ip6";
    const addresses = `${family} saddr ${local.address} ${family} daddr ${remote.address}`;
    return `    ${addresses} tcp sport ${local.port} tcp dport ${remote.port} drop`;
  });
  return `table inet ${table} {
  chain output {
    type filter hook output priority filter
    meta mark ${CRIU_MARK} accept
${rules.join("\n")}
  }
}
`;
}

/** Ends what holds packets back on the host that a killed daemon left; none of its restores lives on. */
export async function removeStaleEgressHolds(ownerKey: string): Promise<void> {
  const { stdout } = await runProcess(["nft", "list", "tables", "inet"]);
  const prefix = egressHoldTableName(ownerKey, "");
  const tables = stdout.split(/\s+/).filter((word) => word.startsWith(prefix));
  for (const table of tables) await runProcess(["nft", "delete", "table", "inet", table]);
}
