import type { CommandSpec } from "./command-spec.ts";
import { APPROVAL_COMMANDS } from "./table/approval-commands.ts";
import { AUTO_COMMAND } from "./table/auto-commands.ts";
import { BASE_COMMANDS } from "./table/base-commands.ts";
import { BISECT_COMMAND } from "./table/bisect-commands.ts";
import { CHECKPOINT_COMMAND, FORK_COMMANDS, WORDS_COMMANDS } from "./table/checkpoint-commands.ts";
import { CONFIG_COMMAND } from "./table/config-commands.ts";
import { CONTACTS_COMMAND } from "./table/contact-commands.ts";
import { DECISION_COMMANDS } from "./table/decision-commands.ts";
import { EFFECT_COMMAND } from "./table/effect-commands.ts";
import { FILE_COMMANDS } from "./table/file-commands.ts";
import { FORWARD_COMMANDS } from "./table/forward-commands.ts";
import { HOST_COMMANDS } from "./table/host-commands.ts";
import { MERGE_COMMANDS } from "./table/merge-commands.ts";
import { REMOVE_COMMANDS } from "./table/remove-commands.ts";
import { RESTORE_COMMANDS } from "./table/restore-commands.ts";
import { REWIND_COMMAND } from "./table/rewind-commands.ts";
import { SESSION_COMMANDS, START_COMMAND, STOP_COMMAND } from "./table/session-commands.ts";
import { STATE_COMMAND, TASK_COMMAND } from "./table/state-commands.ts";
import { STORY_COMMANDS } from "./table/story-commands.ts";
import { VERIFY_COMMAND } from "./table/verify-commands.ts";

/** Every command of the command line, in the order of the help. */
export const COMMAND_TABLE: readonly CommandSpec[] = [
  ...SESSION_COMMANDS,
  ...FORWARD_COMMANDS,
  START_COMMAND,
  STOP_COMMAND,
  ...REMOVE_COMMANDS,
  CHECKPOINT_COMMAND,
  ...WORDS_COMMANDS,
  VERIFY_COMMAND,
  BISECT_COMMAND,
  ...STORY_COMMANDS,
  ...RESTORE_COMMANDS,
  REWIND_COMMAND,
  ...FORK_COMMANDS,
  AUTO_COMMAND,
  ...APPROVAL_COMMANDS,
  STATE_COMMAND,
  TASK_COMMAND,
  EFFECT_COMMAND,
  CONTACTS_COMMAND,
  ...DECISION_COMMANDS,
  ...FILE_COMMANDS,
  ...MERGE_COMMANDS,
  ...BASE_COMMANDS,
  CONFIG_COMMAND,
  ...HOST_COMMANDS,
];
