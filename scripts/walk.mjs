// Runs the walks of examples/ and writes what they print into their documents. It needs root, and takes
// a minute.
//
//   node scripts/walk.mjs [NAME]            writes them, or one: first-hour, going-back, afternoon
//   node scripts/walk.mjs [NAME] --check    exits 1 if a document tells something else
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { blocksOf, fillIn, runWalk } from "./docs/transcripts.ts";

const DOCUMENTS = {
  "first-hour": "docs/first-hour.md",
  "going-back": "docs/going-back.md",
  afternoon: "docs/timeline.md",
};

const isCheck = process.argv.includes("--check");
const wanted = process.argv.slice(2).filter((word) => word !== "--check");
const unknown = wanted.filter((name) => !Object.hasOwn(DOCUMENTS, name));
if (unknown.length > 0) {
  process.stdout.write(`There is no walk ${unknown.join(", ")}.\n`);
  process.exit(2);
}
for (const name of wanted.length > 0 ? wanted : Object.keys(DOCUMENTS)) walk(name);

function walk(name) {
  const document = DOCUMENTS[name];
  const documentPath = fileURLToPath(new URL(`../${document}`, import.meta.url));
  const markdown = readFileSync(documentPath, "utf8");
  const printed = runWalk(fileURLToPath(new URL(`../examples/${name}`, import.meta.url)));
  const { text, stale } = fillIn(markdown, printed);
  const blocks = blocksOf(markdown);
  const unused = [...printed.keys()].filter((block) => !blocks.includes(block));
  if (isCheck) tellStale(document, { stale, unused });
  else writeFileSync(documentPath, text);
  process.stdout.write(`${blocks.length} blocks, ${stale.length} with other words\n`);
}

function tellStale(document, { stale, unused }) {
  for (const block of stale) process.stdout.write(`${document} is stale: ${block}\n`);
  for (const block of unused) process.stdout.write(`${document} lacks ${block}\n`);
  if (stale.length + unused.length === 0) return;
  process.stdout.write("Run npm run docs:walk.\n");
  process.exitCode = 1;
}
