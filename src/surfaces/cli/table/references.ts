import type { ArgumentSpec, OptionSpec } from "../command-spec.ts";
import { parseReference } from "../parse-values.ts";

/** The session that a command is about. */
export const SESSION: ArgumentSpec = [
  "<session>",
  "Session: its name, id or a unique prefix of the id",
  parseReference,
];

/** The same where it may be left out. */
export const SESSION_OPTIONAL: ArgumentSpec = [
  "[session]",
  "Only this session and where it came from",
  parseReference,
];

/** The checkpoint that a command is about. */
export const CHECKPOINT: ArgumentSpec = [
  "<checkpoint>",
  "Checkpoint: its id, a unique prefix, its name, NAME@ (where the session NAME stands: its " +
    "newest, or the one that it was put back to) or NAME@~2 (two before that)",
  parseReference,
];

/** Whether `restore` and `undo` go on where somebody types. */
export const WHILE_TYPING: OptionSpec = {
  flags: "--while-typing",
  description: "Go on although somebody has typed in the session in the last ten seconds",
};

/** What `restore` and `undo` may lose of what is there now. */
export const LOSS_OPTIONS: readonly OptionSpec[] = [
  {
    flags: "--lose-processes",
    description: "Go on when what runs cannot be captured; undo then brings back files only",
  },
  {
    flags: "--without-undo",
    description: "Do not capture what is there now, for when the store is full",
  },
];

/** What to do about binds whose source is gone. */
export const WITHOUT_BINDS: OptionSpec = {
  flags: "--without-binds",
  description: "Go on without the binds whose source is gone",
};
