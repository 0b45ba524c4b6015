import { readFile, readlink } from "node:fs/promises";
import { hasOnlyLoopbackServers } from "./resolv-conf.ts";

/** The daemon's /run is a tmpfs of its own, and resolv.conf is often a link into the host's. */
const HOST_ROOT = "/proc/1/root";
/** What systemd-resolved itself asks, when resolv.conf names its stub on the loopback. */
const UPSTREAM_PATH = "/run/systemd/resolve/resolv.conf";

/** Returns the host's resolv.conf with name servers that are reachable, where there are such. */
export async function readHostResolvConf(): Promise<string> {
  const own = (await readIfThere("/etc/resolv.conf")) ?? "";
  if (own !== "" && !hasOnlyLoopbackServers(own)) return own;
  const upstream = await readIfThere(UPSTREAM_PATH);
  return upstream === undefined || hasOnlyLoopbackServers(upstream) ? own : upstream;
}

async function readIfThere(path: string): Promise<string | undefined> {
  for (const candidate of [`${HOST_ROOT}${path}`, await linkTargetOnHost(path), path]) {
    const text = await readFile(candidate, "utf8").catch(() => undefined);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** An absolute link read through HOST_ROOT would lead into the daemon's own /run. */
async function linkTargetOnHost(path: string): Promise<string> {
  const target = await readlink(`${HOST_ROOT}${path}`).catch(() => path);
  return target.startsWith("/") ? `${HOST_ROOT}${target}` : path;
}
