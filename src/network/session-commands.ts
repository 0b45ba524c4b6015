import type { LinkAddresses } from "./link-addresses.ts";

/**
 * Address that every session has on its lo and that its connections come from. A restored process
 * finds it there, whatever link its namespace got; 100.64.0.0/10 is no address of the internet.
 */
export const INNER_ADDRESS = "100.64.0.2";

/** Name of the link inside a session. */
const INNER_LINK_NAME = "eth0";

/** Returns the command that makes a namespace at `netnsPath`, reading `ip` commands. */
export function buildNamespaceCommand(netnsPath: string): [string, ...string[]] {
  return ["unshare", `--net=${netnsPath}`, "--", "ip", "-batch", "-"];
}

/** Returns what a namespace needs before CRIU restores into it. */
export function buildNamespaceBatch(): string {
  return `link set lo up\naddress add ${INNER_ADDRESS}/32 dev lo\n`;
}

/**
 * Returns the shell script that links a namespace to the host.
 *
 * The first command reserves the link's number: it fails with "File exists" if another daemon has
 * it. The namespace gets its translation meanwhile, which names no address and needs no link, so
 * that another attempt with the next number may repeat it. No IPv6 address is generated, so the
 * link has no neighbour discovery to wait for.
 */
export function buildConnectScript(options: {
  netnsPath: string;
  link: LinkAddresses;
  alias: string;
}): string {
  const { netnsPath, link, alias } = options;
  const inside = `nsenter --net=${netnsPath} --`;
  return `
${inside} nft -f - <<'END' &
table ip waypoint {
  chain postrouting {
    type nat hook postrouting priority srcnat
    oifname ${INNER_LINK_NAME} masquerade
  }
}
END
translation=$!
ip -batch - <<'END'
link add name ${link.linkName} type veth peer name ${INNER_LINK_NAME} netns ${netnsPath}
link set dev ${link.linkName} alias ${alias} addrgenmode none up
address add ${link.hostAddress}/31 dev ${link.linkName}
END
${inside} ip -batch - <<'END'
link set dev ${INNER_LINK_NAME} addrgenmode none up
address add ${link.sessionAddress}/31 dev ${INNER_LINK_NAME}
route add default via ${link.hostAddress} dev ${INNER_LINK_NAME} src ${INNER_ADDRESS}
END
wait $translation
`;
}
