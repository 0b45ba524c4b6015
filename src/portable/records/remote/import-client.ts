import { WaypointError } from "../../../shared/errors/index.ts";
import { codeOf } from "./server-calls.ts";

/**
 * Loads the client of a server, which is installed by who uses it.
 *
 * @throws USAGE_INVALID  it is not installed.
 */
export async function importClient<Module>(
  name: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (codeOf(error) !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new WaypointError("USAGE_INVALID", `The package ${name} is not installed.`, {
      hint: `Install it beside Waypoint: npm install ${name}`,
      detail: { package: name },
    });
  }
}
