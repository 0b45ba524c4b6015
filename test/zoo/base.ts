import { existsSync } from "node:fs";
import type { Checkpoint, Waypoint } from "../../src/index.ts";

const PACKAGES = [
  ..."tmux vim nano less procps openssh-client".split(" "),
  ..."emacs-nox mc fzf sbcl mksh expect sudo dropbear-bin".split(" "),
  ..."redis-server postgresql mariadb-server sqlite3 nginx-light caddy haproxy supervisor".split(
    " ",
  ),
  ..."default-jdk-headless chromium python3 gunicorn python3-flask irb".split(" "),
  ..."git make gcc libc6-dev curl iproute2".split(" "),
];
/** Each in a directory of its own below /srv. */
const NPM_PACKAGES = {
  node20: "node@20",
  node24: "node@24",
  npm: "npm@11",
  vite: "vite@6",
  nodemon: "nodemon@3",
};
const INSTALL_TIMEOUT_MS = 15 * 60_000;

/** Where the programs of npm lie in a session. */
export const NODE_20 = "/srv/node20/node_modules/node/bin/node";
export const NODE_24 = "/srv/node24/node_modules/node/bin/node";
export const NPM = `${NODE_24} /srv/npm/node_modules/npm/bin/npm-cli.js`;

/**
 * Installs all programs in a new session and returns its checkpoint; the host stays as it is.
 *
 * No service starts by itself: policy-rc.d says so to Debian's packages.
 */
export async function installPrograms(waypoint: Waypoint): Promise<Checkpoint> {
  const session = await waypoint.new();
  const npm = Object.entries(NPM_PACKAGES).map(
    ([directory, name]) =>
      `mkdir -p /srv/${directory}; (cd /srv/${directory}; npm install --no-audit --no-fund ${name})`,
  );
  const lines = [
    "printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d; chmod +x /usr/sbin/policy-rc.d",
    "export DEBIAN_FRONTEND=noninteractive",
    hostNpm(),
    // npm and apt do not know of each other; the one downloads while the other unpacks.
    `{ ${npm.join("; ")}; } > /root/npm.log 2>&1 & npm=$!`,
    "apt-get -qq -o Acquire::Retries=3 update",
    `apt-get -qq -o Acquire::Retries=3 -o Dpkg::Options::=--force-unsafe-io install -y --no-install-recommends ${PACKAGES.join(" ")}`,
    "wait $npm || { cat /root/npm.log; exit 1; }",
    `${NODE_20} --version; ${NODE_24} --version; ${NPM} --version`,
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

/** Lets a session whose path has no npm use the one that runs this; it sees the host's files. */
function hostNpm(): string {
  const running = process.env["npm_execpath"] ?? "";
  const isThere = running.endsWith("npm-cli.js") && existsSync(running);
  return isThere
    ? `command -v npm || npm() { '${process.execPath}' '${running}' "$@"; }`
    : "command -v npm";
}
