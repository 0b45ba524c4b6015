// Writes the documents that are derived from the code: docs/errors.md, operations.md, cli.md; and
// docs/compatibility.md from the last run of the zoo on this machine, if there was one.
//
//   node scripts/docs.mjs            writes them
//   node scripts/docs.mjs --check    exits 1 if one of them is stale
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { renderPages } from "./docs/pages.ts";
import { programsMissing, renderCompatibility } from "./docs/render-compatibility.ts";

const ROOT = new URL("../", import.meta.url);
const COMPATIBILITY = "docs/compatibility.md";
const isCheck = process.argv.includes("--check");
let staleCount = 0;

for (const { path, text } of await renderPages()) {
  if (readOrNull(path) !== text) settle(path, text);
}
// Its figures differ from run to run: only the list of programs can be stale.
const compatibility = isCheck ? null : renderCompatibility();
if (compatibility !== null && compatibility !== readOrNull(COMPATIBILITY)) {
  settle(COMPATIBILITY, compatibility);
}
const missing = programsMissing(readOrNull(COMPATIBILITY) ?? "");
if (missing.length > 0) {
  staleCount += 1;
  process.stdout.write(`${COMPATIBILITY} lacks ${missing.join("; ")}: run the zoo, then this.\n`);
}
process.exitCode = isCheck && staleCount > 0 ? 1 : 0;

function settle(path, text) {
  staleCount += 1;
  if (!isCheck) writeFileSync(fileURLToPath(new URL(path, ROOT)), text);
  process.stdout.write(isCheck ? `${path} is stale; run npm run docs.\n` : `wrote ${path}\n`);
}

function readOrNull(path) {
  try {
    return readFileSync(fileURLToPath(new URL(path, ROOT)), "utf8");
  } catch {
    return null;
  }
}
