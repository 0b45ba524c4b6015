import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import path from "node:path";

// The cache lies beside the program, not in the shared temporary directory, where another user
// could put code for root to run. Without it a start compiles some 200 kB again.
const cacheDir = path.join(import.meta.dirname, ".compile-cache");
if (existsSync(path.join(import.meta.dirname, "cli.cjs"))) enableCompileCache(cacheDir);

// Imported only now, so that the cache covers it.
void import("./run.ts").then(({ runCommandLine }) => runCommandLine(process.argv.slice(2)));
