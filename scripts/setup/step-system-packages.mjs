import { findCommand } from "./find-command.mjs";
import { missingTools } from "./required-tools.mjs";
import { runTool } from "./run-tool.mjs";
import { SetupError } from "./setup-error.mjs";

/** How long to wait for another apt or dpkg to end. */
const DPKG_LOCK_WAIT_SECONDS = 600;

/** Installs the missing commands with apt; the only step that changes the machine itself. */
export const systemPackagesStep = {
  id: "packages",
  title: "system packages",

  check() {
    return missingTools().length === 0 ? "all there" : null;
  },

  async run() {
    const missing = missingTools();
    const packages = [...new Set(missing.map(({ debianPackage }) => debianPackage))];
    const command = `apt-get install ${packages.join(" ")}`;
    if (findCommand("apt-get") === null) {
      const names = missing.map(({ name }) => name).join(", ");
      throw new SetupError("SETUP_FAILED", `Commands are missing and there is no apt: ${names}.`, {
        hint: "Install them with this distribution's package manager, then run the set-up again.",
      });
    }
    const options = {
      env: { ...process.env, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" },
      // A dpkg that is ended in the middle leaves the machine's package database to be repaired.
      isContained: false,
      hint: `Try \`${command}\` by hand.`,
    };
    const apt = ["apt-get", "-q", "-o", `DPkg::Lock::Timeout=${DPKG_LOCK_WAIT_SECONDS}`];
    // A source that has nothing to do with these packages may be broken; the installation decides.
    await runTool([...apt, "update"], options).catch(() => {});
    await runTool([...apt, "install", "-y", "--no-install-recommends", ...packages], options);
    return `installed ${packages.join(", ")}`;
  },
};
