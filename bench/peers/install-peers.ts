import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { PEERS_DIR } from "./peers-dir.ts";

const run = promisify(execFile);
const PACKAGES = ["podman", "runc", "redis-server", "chromium"];

/**
 * Brings the programs that Waypoint is compared with into `.tools/peers`: Debian's packages and
 * what they need, downloaded by apt and unpacked beside the system.
 *
 * **Requires** Debian (or what is made of it) and its package lists (`apt-get update`).
 * **On failure** nothing of it is there.
 */
export async function installPeers(): Promise<void> {
  mkdirSync(path.dirname(PEERS_DIR), { recursive: true });
  const unfinished = mkdtempSync(`${PEERS_DIR}-`);
  try {
    const archives = path.join(unfinished, "archives");
    mkdirSync(archives);
    const options = ["-q", "-o", "APT::Sandbox::User=root"];
    await run("apt-get", [...options, "download", ...(await missingPackages())], { cwd: archives });
    for (const archive of readdirSync(archives)) {
      await run("dpkg", ["-x", path.join(archives, archive), unfinished]);
    }
    rmSync(archives, { recursive: true });
    rmSync(PEERS_DIR, { recursive: true, force: true });
    renameSync(unfinished, PEERS_DIR);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Returns the packages that an installation would bring; those it would only renew are left out. */
async function missingPackages(): Promise<string[]> {
  const options = ["install", "--simulate", "--no-install-recommends", "--reinstall"];
  const { stdout } = await run("apt-get", [...options, ...PACKAGES]);
  return stdout.split("\n").flatMap((line) => {
    const [, name, rest] = /^Inst (\S+) (.*)$/.exec(line) ?? [];
    if (name === undefined || rest === undefined) return [];
    return rest.startsWith("[") && !PACKAGES.includes(name) ? [] : [name];
  });
}
