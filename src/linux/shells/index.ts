/**
 * shells owns what the memory of a shell says: its exported variables and its functions, without
 * asking the shell. It gets memory and a program's file, and knows nothing of where they are from.
 * docs/notes/bash and zsh have the facts behind it.
 */
export { readShellMemory, type ShellMemory, type ShellState } from "./read-shell-memory.ts";
