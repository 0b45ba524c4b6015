import { checkMachine, checkTools } from "../../../scripts/setup/machine-checks.mjs";
import { checkFollowedWrites } from "./check-followed-writes.ts";
import { checkNftLibrary } from "./check-nft-library.ts";
import { checkCriu, checkNativePrograms, checkNode } from "./check-programs.ts";
import { describeResources } from "./check-resources.ts";
import { checkSocketClosing } from "./check-socket-closing.ts";
import type { HostCheck } from "./host-check.ts";

/** What to look at. */
export interface CheckHostOptions {
  /** The daemon's state directory, or where it will be. */
  stateDir: string;
  /** The directory that holds Waypoint's package.json and .tools. */
  packageRoot: string;
}

/**
 * Looks at everything that decides whether and how well Waypoint works on this machine.
 *
 * Changes nothing, except that the kernel may load a module that a mount would load as well.
 * Never throws for something that is missing: that is a check with `ok: false` and its fix.
 *
 * @returns the checks in the order in which to show them; what comes first is needed first.
 */
export async function checkHost(options: CheckHostOptions): Promise<HostCheck[]> {
  const machine = checkMachine();
  // On another system nothing below can even be asked.
  if (machine[0]?.ok === false) return machine;
  return [
    ...machine,
    checkTools(),
    checkNode(),
    await checkCriu(options.packageRoot),
    checkNativePrograms(options.packageRoot),
    await checkNftLibrary(options.packageRoot),
    ...describeResources(options.stateDir),
    await checkSocketClosing(),
    await checkFollowedWrites(options.packageRoot),
  ];
}
