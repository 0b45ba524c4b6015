// Writes the documents that are derived from the code: docs/errors.md, operations.md, cli.md.
//
//   node scripts/docs.mjs            writes them
//   node scripts/docs.mjs --check    exits 1 if one of them is stale
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { renderPages } from "./docs/pages.ts";

const ROOT = new URL("../", import.meta.url);
const isCheck = process.argv.includes("--check");
let staleCount = 0;

for (const { path, text } of await renderPages()) {
  const file = fileURLToPath(new URL(path, ROOT));
  if (readOrNull(file) === text) continue;
  staleCount += 1;
  if (!isCheck) writeFileSync(file, text);
  process.stdout.write(isCheck ? `${path} is stale; run npm run docs.\n` : `wrote ${path}\n`);
}
process.exitCode = isCheck && staleCount > 0 ? 1 : 0;

function readOrNull(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
