import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { npmArgv, npmEnvironment } from "./npm.mjs";
import { runTool } from "./run-tool.mjs";

/**
 * Installs the packages of the root's lock file with `npm ci`.
 *
 * npm writes node_modules/.package-lock.json when, and only when, it has finished; that file is
 * compared with the lock, so packages that a person installed by hand count as well.
 */
export const dependenciesStep = {
  id: "dependencies",
  title: "npm packages",

  check({ packageRoot, isPackaged }) {
    if (isPackaged) return "installed with the package";
    const wanted = readPackages(path.join(packageRoot, "package-lock.json"));
    const present = readPackages(installedLockPath(packageRoot));
    if (wanted === null || present === null || !isSatisfied(wanted, present)) return null;
    return `${Object.keys(present).length} packages`;
  },

  async run({ packageRoot, tools, signal }) {
    // First, so that an installation that is killed half-way is not taken for a whole one.
    rmSync(installedLockPath(packageRoot), { force: true });
    await runTool([...npmArgv(), "ci", "--include=dev", "--include=optional"], {
      cwd: packageRoot,
      env: npmEnvironment({ nodeBinDir: tools.at("node/bin") }),
      signal,
      hint: "Check that `npm ping` reaches your registry, then run the set-up again.",
    });
    const count = Object.keys(readPackages(installedLockPath(packageRoot)) ?? {}).length;
    return `${count} packages`;
  },
};

function installedLockPath(packageRoot) {
  return path.join(packageRoot, "node_modules/.package-lock.json");
}

function readPackages(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).packages : null;
}

function isSatisfied(wanted, present) {
  return Object.entries(wanted).every(([name, entry]) => {
    if (name === "") return true;
    const found = present[name];
    // A package for another machine type is in the lock and rightly not on this disk.
    if (found === undefined) return entry.optional === true || entry.devOptional === true;
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}
