import { BASH_RC } from "./bash-integration.ts";
import { FISH_KEYS } from "./fish-integration.ts";
import { POSIX_STARTUP } from "./posix-startup.ts";
import { ZSH_ENV, ZSH_KEYS, ZSH_RC } from "./zsh-integration.ts";

/** What the shells of a session read at their start: content by path below `/run/waypoint`. */
export const SHELL_FILES: Readonly<Record<string, string>> = {
  bashrc: BASH_RC,
  shrc: POSIX_STARTUP,
  "zsh/.zshenv": ZSH_ENV,
  "zsh/.zshrc": ZSH_RC,
  "keys.zsh": ZSH_KEYS,
  "keys.fish": FISH_KEYS,
};
