/**
 * terminal owns everything between the daemon and a session's first process: terminals, commands,
 * their streams, and the model of a screen.
 * It knows nothing of checkpoints; it only lets go of its connections when asked to.
 */
export { InitLink } from "./init-link.ts";
export type {
  CommandStage,
  CommandState,
  EndReason,
  InitState,
  TerminalState,
} from "./init-state.ts";
export type { TypedCommand } from "./parse-typed.ts";
export type { ProgramSpec } from "./program-spec.ts";
export { findTerminals, type KeptTerminal } from "./read-init-memory.ts";
export {
  type CommandChunk,
  type CommandReader,
  type ProgramResult,
  type TerminalChunk,
  TerminalReader,
} from "./readers.ts";
export { ScreenModel } from "./screen-model.ts";
export type { RunInShellOptions } from "./script-payloads.ts";
export { SHELL_FILES } from "./shell-files.ts";
