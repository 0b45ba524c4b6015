import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { HOST_ADDRESS, sh, WORLD_ADDRESS } from "../integration/network-world.ts";

const SERVERS = fileURLToPath(new URL("world-servers.ts", import.meta.url));
/** More addresses of the world, each with the same servers. */
export const [ALLOWED, BELOW, OTHER] = ["198.51.100.3", "198.51.100.4", "198.51.100.5"] as const;

/**
 * Makes a world outside of the machine, in the test's own namespaces: a name server and a server of
 * HTTP on ports 8080 and 8081 of each of its addresses. The machine asks that name server from then on.
 */
export async function startWorld(names: Record<string, string[]>): Promise<ChildProcess> {
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), "waypoint-world-")), "resolv.conf");
  writeFileSync(file, `nameserver ${WORLD_ADDRESS}\n`);
  const addresses = [WORLD_ADDRESS, ALLOWED, BELOW, OTHER];
  sh(`ip link set lo up; ip netns add world
    ip link add wan0 type veth peer name eth0 netns world
    ip address add ${HOST_ADDRESS}/24 dev wan0; ip link set wan0 up
    ${addresses.map((each) => `ip -n world address add ${each}/24 dev eth0`).join("\n")}
    ip -n world link set eth0 up; ip -n world link set lo up
    mount --bind ${file} "$(readlink -f /etc/resolv.conf)"; rm -r ${path.dirname(file)}`);
  const node = [process.execPath, SERVERS, JSON.stringify(names)];
  const world = spawn("ip", ["netns", "exec", "world", ...node], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (world.stdout !== null) await once(world.stdout, "data");
  return world;
}
