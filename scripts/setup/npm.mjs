import { existsSync } from "node:fs";
import path from "node:path";
import { findCommand } from "./find-command.mjs";
import { SetupError } from "./setup-error.mjs";

/** Settings with which an outer `npm run` tells its child about itself, not about the user. */
const OUTER_NPM_VARIABLE =
  /^(npm_(package|lifecycle|command|execpath|node_execpath)|npm_config_(local_prefix|prefix|global|dry_run|package_lock_only|workspaces?)$|INIT_CWD$)/i;

/** Returns how to start npm: the one that runs us if there is one, else the one on PATH. */
export function npmArgv() {
  const outer = process.env.npm_execpath ?? "";
  if (/npm-cli\.js$/.test(outer) && existsSync(outer)) return [process.execPath, outer];
  if (findCommand("npm") !== null) return ["npm"];
  throw new SetupError("SETUP_FAILED", "There is no npm on this machine.", {
    hint: "apt-get install npm",
  });
}

/**
 * Returns the environment for npm.
 *
 * @param {{ nodeBinDir?: string }} [options] nodeBinDir: directory of the Node for the scripts of
 *   the packages
 */
export function npmEnvironment({ nodeBinDir } = {}) {
  const kept = Object.entries(process.env).filter(([name]) => !OUTER_NPM_VARIABLE.test(name));
  const env = Object.fromEntries(kept);
  // Lock files of this project name no registry, whoever runs the set-up.
  env.npm_config_omit_lockfile_registry_resolved = "true";
  env.npm_config_audit = "false";
  env.npm_config_fund = "false";
  env.npm_config_update_notifier = "false";
  if (nodeBinDir !== undefined) env.PATH = [nodeBinDir, env.PATH].join(path.delimiter);
  return env;
}
