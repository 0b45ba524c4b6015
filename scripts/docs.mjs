// Writes what is derived from the code: what the command line knows of the contract, the types
// of its schemas with their comments; the documents docs/errors.md, operations.md, cli.md; the manual
// pages; and docs/compatibility.md from the last run of the zoo on this machine, if there was one. The figures of
// docs/performance.md are written by the bench; here it is only checked that none is missing.
//
//   node scripts/docs.mjs            writes them
//   node scripts/docs.mjs --check    exits 1 if one of them is stale
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { figuresMissing } from "../bench/report/docs-missing.ts";
import { compatibilityFaults, renderCompatibility } from "./docs/render-compatibility.ts";
import { renderDescribed } from "./docs/render-described.ts";
import { renderOperationTypes } from "./docs/render-operation-types.ts";

const ROOT = new URL("../", import.meta.url);
const DESCRIBED = "src/shared/protocol/generated/described.ts";
const OPERATION_TYPES = "src/shared/protocol/generated/operation-types.ts";
const COMPATIBILITY = "docs/compatibility.md";
const PERFORMANCE = "docs/performance.md";
const AS_SHOWN = { stdio: "inherit" };
const isCheck = process.argv.includes("--check");
let staleCount = 0;

// The command line reads the one, and docs/cli.md is written from the command line.
const sources = [
  [DESCRIBED, renderDescribed()],
  [OPERATION_TYPES, await renderOperationTypes()],
].filter(([path, text]) => readOrNull(path) !== text);
for (const [path, text] of sources) settle(path, text);
if (sources.length > 0) {
  // What has been loaded here is what it said before.
  if (!isCheck) process.exit(spawnSync(process.execPath, process.argv.slice(1), AS_SHOWN).status);
}
const { renderPages } = await import("./docs/pages.ts");
for (const { path, text } of await renderPages()) {
  if (readOrNull(path) !== text) settle(path, text);
}
// Its figures differ from run to run; only what it lists can be stale.
const compatibility = isCheck ? null : renderCompatibility();
if (compatibility !== null && compatibility !== readOrNull(COMPATIBILITY)) {
  settle(COMPATIBILITY, compatibility);
}
for (const fault of compatibilityFaults(readOrNull(COMPATIBILITY) ?? "")) {
  staleCount += 1;
  process.stdout.write(`${COMPATIBILITY} ${fault}: run the zoo (npm run test:zoo), then this.\n`);
}
const figures = figuresMissing(readOrNull(PERFORMANCE) ?? "");
if (figures.length > 0) {
  staleCount += 1;
  process.stdout.write(
    `${PERFORMANCE} lacks ${figures.join("; ")}: run npm run bench -- --write-docs.\n`,
  );
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
