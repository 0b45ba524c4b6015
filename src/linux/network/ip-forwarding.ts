import { readFile, writeFile } from "node:fs/promises";
import { runProcess } from "../../base/index.ts";

const IP_FORWARD_PATH = "/proc/sys/net/ipv4/ip_forward";

/**
 * Table whose existence says that a daemon of ours switched forwarding on. It lives in the kernel,
 * so it outlives a killed daemon, is shared by all of them, and is gone after a reboot like the
 * setting itself.
 */
const MARKER_TABLE = "ip waypoint_switched_ip_forward_on";

/** Switches forwarding on, remembering it if it was off; cheap where it is on. */
export async function switchForwardingOn(): Promise<void> {
  if (await isForwarding()) return;
  // First the memory: killed between the two, we would put back what is already so.
  await runProcess(["nft", "add", "table", ...MARKER_TABLE.split(" ")]);
  await writeFile(IP_FORWARD_PATH, "1");
}

/**
 * Puts forwarding back if a daemon of ours switched it on and none has a link any more.
 *
 * Another daemon may make its first link at the same moment: it looks at the setting after it made
 * the link, and we look at the links again after we changed the setting, so one of us sees it.
 */
export async function putForwardingBack(hasLinks: () => Promise<boolean>): Promise<void> {
  if (await hasLinks()) return;
  const { exitCode } = await runProcess(["nft", "list", "table", ...MARKER_TABLE.split(" ")], {
    okExitCodes: [0, 1],
  });
  if (exitCode !== 0) return;
  await writeFile(IP_FORWARD_PATH, "0");
  if (await hasLinks()) {
    await writeFile(IP_FORWARD_PATH, "1");
    return;
  }
  await runProcess(["nft", "delete", "table", ...MARKER_TABLE.split(" ")], { okExitCodes: [0, 1] });
}

async function isForwarding(): Promise<boolean> {
  return (await readFile(IP_FORWARD_PATH, "utf8")).trim() === "1";
}
