import { runProcess } from "../../base/index.ts";

/** A chain of the host through which forwarded packets must get. */
interface ForeignChain {
  chain: string;
  policy?: string;
  rules: { handle: number; comment: string | null }[];
}

/**
 * Lets sessions through the FORWARD chain of iptables-nft where its policy is drop (docker, ufw).
 *
 * An accept in a table of ours would not help: a packet has to be accepted by every table. So our
 * two rules go to the front of that chain, or of DOCKER-USER, which docker leaves to its users;
 * they carry the owner's comment and {@link closeForwardChain} removes them and nothing else.
 * Rules of legacy iptables and of other tables (firewalld) are out of reach.
 */
export async function openForwardChain(ownerKey: string): Promise<void> {
  const chains = await readFilterChains();
  const forward = chains.find(({ chain }) => chain === "FORWARD");
  if (forward?.policy !== "drop") return;
  const target = chains.find(({ chain }) => chain === "DOCKER-USER") ?? forward;
  if (target.rules.some(({ comment }) => comment === commentOf(ownerKey))) return;
  const rule = (match: string) =>
    `insert rule ip filter ${target.chain} ${match} accept comment "${commentOf(ownerKey)}"\n`;
  const back = rule(`oifname "wp*" ct state established,related`);
  await runProcess(["nft", "-f", "-"], { input: back + rule(`iifname "wp*" oifname != "wp*"`) });
}

/** Removes the rules of {@link openForwardChain}; idempotent. */
export async function closeForwardChain(ownerKey: string): Promise<void> {
  const commands = (await readFilterChains()).flatMap(({ chain, rules }) =>
    rules
      .filter(({ comment }) => comment === commentOf(ownerKey))
      .map(({ handle }) => `delete rule ip filter ${chain} handle ${handle}\n`),
  );
  if (commands.length > 0) await runProcess(["nft", "-f", "-"], { input: commands.join("") });
}

async function readFilterChains(): Promise<ForeignChain[]> {
  const { exitCode, stdout } = await runProcess(["nft", "-j", "list", "table", "ip", "filter"], {
    okExitCodes: [0, 1],
  });
  return exitCode === 0 ? parseFilterChains(stdout) : [];
}

/** Parses `nft -j list table ip filter`. */
export function parseFilterChains(json: string): ForeignChain[] {
  const { nftables } = JSON.parse(json) as { nftables: NftObject[] };
  const rules = nftables.flatMap(({ rule }) => rule ?? []);
  return nftables.flatMap(({ chain }) => {
    if (chain === undefined) return [];
    const own = rules
      .filter((rule) => rule.chain === chain.name)
      .map(({ handle, comment }) => ({ handle, comment: comment ?? null }));
    const found: ForeignChain = { chain: chain.name, rules: own };
    return [chain.policy === undefined ? found : { ...found, policy: chain.policy }];
  });
}

interface NftObject {
  chain?: { name: string; policy?: string };
  rule?: { chain: string; handle: number; comment?: string };
}

function commentOf(ownerKey: string): string {
  return `waypoint ${ownerKey}`;
}
