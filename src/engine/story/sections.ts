import { FILES_READER } from "./files/read-files.ts";
import { GIT_READER } from "./git/read-git.ts";
import { PACKAGES_READER } from "./packages/read-packages.ts";
import { PROCESSES_READER } from "./processes/read-processes.ts";
import { COMMANDS_READER } from "./recent/read-commands.ts";
import { INTENT_READER } from "./recent/read-intent.ts";
import { TERMINAL_READER } from "./recent/read-terminal.ts";
import type { ChangesReader, MomentReader } from "./section.ts";
import { SHELL_READER } from "./shell/read-shell.ts";

/**
 * The readers of all sections, in the order in which the summary names them.
 *
 * A new section is a file with its reader and a line here; what no reader owns is unknown.
 */
export const CHANGES_READERS: readonly ChangesReader[] = [
  PROCESSES_READER,
  FILES_READER,
  PACKAGES_READER,
  GIT_READER,
  SHELL_READER,
];

/** The readers of what is told of one moment. */
export const MOMENT_READERS: readonly MomentReader[] = [
  INTENT_READER,
  COMMANDS_READER,
  TERMINAL_READER,
];
