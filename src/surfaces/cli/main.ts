import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { loadWithKeptCode, NO_COMMAND } from "./kept-code.ts";

// Compiled code lies beside the program, not in the shared temporary directory, where another user
// could put code for root to run.
const cacheDir = join(import.meta.dirname, ".compile-cache");
const shared = join(import.meta.dirname, "cli", "shared.cjs");
const argv = process.argv.slice(2);
const [word = ""] = argv;
const isBuilt = existsSync(shared);
if (isBuilt) enableCompileCache(cacheDir);
const wanted = /^[a-z]+$/.test(word) ? word : NO_COMMAND;
const keepCode = isBuilt ? loadWithKeptCode(shared, cacheDir, wanted) : null;

// Imported only now: what was loaded above is what it gives.
void import("./run.ts").then(({ isCommand, runCommandLine }) => {
  // The names of commands are few; what else somebody may type is not.
  process.once("exit", () => keepCode?.(isCommand(wanted) ? wanted : NO_COMMAND));
  return runCommandLine(argv);
});
