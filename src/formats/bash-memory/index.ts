/**
 * bash-memory owns how a running bash lays out its variables and functions.
 *
 * Everything it reads belongs to a session: pointers are followed within bounds.
 */

export { BashPrinter } from "./bash-printer.ts";
export { readBashFunctions, readBashVariables } from "./bash-tables.ts";
export { type MemoryStretch, MemoryView } from "./memory-view.ts";
