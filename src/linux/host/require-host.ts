import { checkMachine, PRIVILEGE_CHECKS } from "../../../scripts/setup/machine-checks.mjs";
import { WaypointError } from "../../shared/errors/index.ts";
import { checkNativePrograms } from "./check-programs.ts";
import { type FindCriuOptions, findCriu } from "./find-criu.ts";

/**
 * Makes sure that the daemon can work on this machine; takes a few milliseconds.
 *
 * Reads /proc and the set-up's record; nothing is mounted and, where no module is missing, no
 * program is started.
 *
 * @throws PRIVILEGE_MISSING  not root, or root without CAP_SYS_ADMIN.
 * @throws HOST_UNSUPPORTED   the machine or its kernel lacks something for good.
 * @throws SETUP_INCOMPLETE   `waypoint setup` has not brought everything yet.
 */
export async function requireHost(options: FindCriuOptions): Promise<void> {
  for (const check of checkMachine()) {
    if (check.ok) continue;
    const code = PRIVILEGE_CHECKS.has(check.id) ? "PRIVILEGE_MISSING" : "HOST_UNSUPPORTED";
    const message = `Waypoint cannot run here: ${check.id}: ${check.detail}.`;
    throw new WaypointError(code, message, {
      ...(check.fix === null ? {} : { hint: check.fix }),
      detail: { check: check.id },
    });
  }
  await findCriu(options);
  const native = checkNativePrograms(options.packageRoot);
  if (native.ok) return;
  throw new WaypointError("SETUP_INCOMPLETE", `Waypoint's own programs are ${native.detail}.`, {
    hint: "Run `waypoint setup` as root.",
  });
}
