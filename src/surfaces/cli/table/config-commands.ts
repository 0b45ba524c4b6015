import type { CommandSpec } from "../command-spec.ts";
import { CONFIG_KEY_NAMES, rowOf } from "../config/keys.ts";

const KEYS = CONFIG_KEY_NAMES.map((key) => `${key} (${rowOf(key).words})`).join(", ");

/** The config files, of the user and of a directory. */
export const CONFIG_COMMAND: CommandSpec = {
  name: "config",
  summary: "Show or set what commands take where nothing is typed",
  description:
    `The keys are ${KEYS}. What is typed goes before a variable of the environment, that before the ` +
    "directory's file, that before the user's. The user's file is " +
    "$XDG_CONFIG_HOME/waypoint/config.toml, or ~/.config/waypoint/config.toml. The directory's is " +
    ".waypoint.toml where you stand, or in the nearest directory above; it comes from whoever wrote " +
    "it, so it may set colours and noise alone, until you have read it and said --allow. " +
    "Setting a key keeps comments and order.",
  arguments: () => [
    { name: "[key]", description: "Key to show or set [all are shown]", choices: CONFIG_KEY_NAMES },
    { name: "[value...]", description: "Value to set; several globs of noise, words of verify" },
  ],
  options: () => [
    { flags: "--directory", description: "Set it in .waypoint.toml here [in the user's file]" },
    { flags: "--unset <key>", description: "Remove a key", choices: CONFIG_KEY_NAMES },
    { flags: "--allow", description: "Let this directory's file set every key, as it is now" },
  ],
  examples: [
    ["waypoint config", "Every key, its value and where that is set"],
    ["waypoint config detach-keys ctrl-a,d", "For all that you attach to"],
    ['waypoint config verify "npm test" --directory', "For sessions that are started here"],
    ["waypoint config noise '*.log' coverage", "No line of the timeline names these"],
    ["waypoint config --unset base", "As it was before"],
  ],
  errors: ["CONFIG_INVALID"],
  load: () => import("../commands/config.ts"),
};
