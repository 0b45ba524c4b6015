import { execFile } from "node:child_process";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { ROOT } from "./repository.ts";

/** Imports files in a Node that cannot resolve some packages; rejects where one of them is needed. */
export async function importWithout(
  missing: readonly string[],
  files: readonly string[],
): Promise<void> {
  const urls = files.map((file) => pathToFileURL(path.join(ROOT, file)).href);
  const program = `
    const { registerHooks } = await import("node:module");
    const notThere = new Set(${JSON.stringify(missing)}.flatMap((name) => [name, name.replace("node:", "")]));
    registerHooks({
      resolve(specifier, context, next) {
        if (notThere.has(specifier)) throw new Error("not there: " + specifier);
        return next(specifier, context);
      },
    });
    for (const url of ${JSON.stringify(urls)}) await import(url);
  `;
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
}
