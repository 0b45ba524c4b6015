import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { confirm, dim, say, seconds, showCommand } from "./display.ts";
import { TourFailure } from "./expectation.ts";
import type { Shell } from "./shell.ts";

const INSTALL_TIMEOUT_MS = 300_000;
const SHOP_DIR = fileURLToPath(new URL("../shop", import.meta.url));

/** Commands that the tour needs in the session, and the Debian package of each. */
const PACKAGE_OF_COMMAND: Record<string, string> = {
  "redis-server": "redis-server",
  sqlite3: "sqlite3",
  tmux: "tmux",
  python3: "python3-minimal",
  curl: "curl",
};

/** Copies the shop to /srv/shop in the session; the host's files stay as they are. */
export async function placeShop(shell: Shell): Promise<void> {
  if ((await shell.ask(`test -d '${SHOP_DIR}'`)).exitCode === 0) {
    await shell.run(`mkdir -p /srv && cp -r '${SHOP_DIR}' /srv/shop && cd /srv/shop && ls -m`);
  } else {
    say("(The checkout lies on a mount of its own that the session does not see; it is sent in.)");
    await shell.read(
      `mkdir -p /srv/shop && cd /srv/shop && base64 -d <<'EOF' | tar xz\n${packShop()}\nEOF`,
    );
  }
  await shell.read("rm -rf node_modules shop.db");
}

/** Installs the programs that the shop needs and the host does not have. */
export async function installPrograms(shell: Shell): Promise<void> {
  await providePath(shell);
  const missing = await missingCommands(shell);
  if (missing.length === 0) return say("All programs of the shop are on this host already.");

  await keepServicesOff(shell);
  const packages = missing.map((command) => PACKAGE_OF_COMMAND[command]).join(" ");
  await aptInstall(shell, packages);
  for (const command of missing) showAbsentOnHost(command);
}

/** Installs the shop's npm package from its lock file. */
export async function installNpmPackages(shell: Shell): Promise<void> {
  const result = await shell.run(
    "npm ci --prefer-offline --no-audit --no-fund --fetch-retries=1 --loglevel=error",
    {
      timeoutMs: INSTALL_TIMEOUT_MS,
      exitCode: "any",
    },
  );
  if (result.exitCode === 0) return;
  throw new TourFailure(
    `The session could not get the shop's npm package: ${lastLine(result)}`,
    "Check that this host reaches its npm registry; `npm ci` in examples/shop on the host once is enough, the session then finds it in npm's cache.",
  );
}

async function aptInstall(shell: Shell, packages: string): Promise<void> {
  const command = `DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ${packages} </dev/null`;
  const options = { timeoutMs: INSTALL_TIMEOUT_MS, linesMax: 3, exitCode: "any" } as const;
  let result = await shell.run(command, options);
  if (result.exitCode !== 0) {
    await shell.run("apt-get update -qq", options);
    result = await shell.run(command, options);
  }
  if (result.exitCode === 0) {
    return confirm(`installed in ${seconds(result.durationMs)}, in the session only`);
  }
  throw new TourFailure(
    `The session could not install ${packages}: ${lastLine(result)}`,
    `Check that this host reaches its package servers, or install ${packages} on the host; a session uses the host's programs. Then start again.`,
  );
}

/** Gives the session the Node that runs the tour where its own PATH has none. */
async function providePath(shell: Shell): Promise<void> {
  if ((await shell.ask("command -v node npm")).exitCode === 0) return;
  const nodeDir = dirname(process.execPath);
  const result = await shell.run(
    `export PATH="$PATH:${nodeDir}" && node --version && npm --version`,
    {
      exitCode: "any",
    },
  );
  if (result.exitCode === 0) return;
  throw new TourFailure(
    "The session finds no node and npm.",
    "Install Node 20 or newer on this host.",
  );
}

async function missingCommands(shell: Shell): Promise<string[]> {
  const commands = Object.keys(PACKAGE_OF_COMMAND);
  const answer = await shell.read(
    `for c in ${commands.join(" ")}; do command -v $c >/dev/null || echo $c; done`,
  );
  return answer.split("\n").filter((line) => line !== "");
}

/** Tells Debian's packages not to start services: the tour starts Redis itself. */
async function keepServicesOff(shell: Shell): Promise<void> {
  await shell.read(
    "printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d",
  );
}

function showAbsentOnHost(command: string): void {
  showCommand("host", `command -v ${command}`);
  const found = spawnSync("sh", ["-c", `command -v ${command}`], { encoding: "utf8" });
  if (found.status === 0) throw new TourFailure(`${command} appeared on the host: ${found.stdout}`);
  console.log(dim(`     (nothing: the host has no ${command})`));
}

function packShop(): string {
  const packed = spawnSync("tar", ["czf", "-", "--exclude=node_modules", "-C", SHOP_DIR, "."]);
  if (packed.status !== 0)
    throw new TourFailure(`tar could not pack the shop: ${packed.stderr.toString()}`);
  return packed.stdout.toString("base64").replaceAll(/(.{76})/g, "$1\n");
}

function lastLine(result: { stdout: string; stderr: string }): string {
  const lines = (result.stderr.trim() || result.stdout.trim()).split("\n");
  return lines.findLast((line) => !line.includes("A complete log of this run")) ?? "no output";
}
