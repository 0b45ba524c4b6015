// Runs the walk of examples/going-back and writes what it prints into docs/going-back.md. It needs
// root, and takes half a minute.
//
//   node scripts/going-back.mjs            writes it
//   node scripts/going-back.mjs --check    exits 1 if the document tells something else
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { blocksOf, fillIn, runWalk } from "./docs/transcripts.ts";

const DOCUMENT = fileURLToPath(new URL("../docs/going-back.md", import.meta.url));
const WALK = fileURLToPath(new URL("../examples/going-back", import.meta.url));

const markdown = readFileSync(DOCUMENT, "utf8");
const printed = runWalk(WALK);
const { text, stale } = fillIn(markdown, printed);
const blocks = blocksOf(markdown);
const unused = [...printed.keys()].filter((name) => !blocks.includes(name));

if (process.argv.includes("--check")) {
  for (const name of stale) process.stdout.write(`docs/going-back.md is stale: ${name}\n`);
  for (const name of unused) process.stdout.write(`docs/going-back.md lacks ${name}\n`);
  if (stale.length + unused.length > 0) {
    process.stdout.write("Run node scripts/going-back.mjs.\n");
    process.exitCode = 1;
  }
} else {
  writeFileSync(DOCUMENT, text);
}
process.stdout.write(`${blocks.length} blocks, ${stale.length} with other words\n`);
