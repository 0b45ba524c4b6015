import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { CONTRACT } from "../../src/shared/protocol/index.ts";
import { filesBelow, ROOT, readText } from "./repository.ts";

const run = promisify(execFile);
const IMPORT = /^import .*;$/gm;
const OF_SDK = /from "waypoint";$/;
/** What a script that begins in the middle of a program has from before. */
const BEFORE = `import { attempt, bestOf, Checkpoint, compare, hasCode, Session, Waypoint } from "waypoint";
declare const [waypoint, session, before]: [Waypoint, Session, Checkpoint];
`;

function scriptsOf(document: string): string[] {
  const blocks = (readText(document) ?? "").matchAll(/```ts\n([\s\S]*?)```/g);
  return [...blocks].map(([, script = ""]) => script);
}

/** A module in which a script's names may hide those from before. */
function asModule(script: string): string {
  const others = (script.match(IMPORT) ?? []).filter((line) => !OF_SDK.test(line)).join("\n");
  return `${BEFORE}${others}\nexport async function script() {\n${script.replace(IMPORT, "")}}\n`;
}

test("the scripts of the documents are ones of the SDK as it is", async () => {
  const scripts = ["README.md", "docs/sdk.md", "docs/agents.md", "docs/langgraph.md"].flatMap(
    scriptsOf,
  );
  const directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-scripts-"));
  for (const [at, script] of scripts.entries()) {
    const isWhole = script.includes('"waypoint/langgraph"');
    writeFileSync(path.join(directory, `${at}.ts`), isWhole ? script : asModule(script));
  }
  const compilerOptions = {
    paths: {
      waypoint: [path.join(ROOT, "src/index.ts")],
      "waypoint/langgraph": [path.join(ROOT, "src/langgraph.ts")],
      "@langchain/*": [path.join(ROOT, "node_modules/@langchain/*")],
    },
    typeRoots: [path.join(ROOT, "node_modules/@types")],
    module: "preserve",
    moduleResolution: "bundler",
    noUnusedLocals: false,
  };
  const config = {
    extends: path.join(ROOT, "tsconfig.json"),
    compilerOptions,
    include: [`${directory}/*.ts`],
  };
  writeFileSync(path.join(directory, "tsconfig.json"), JSON.stringify(config));
  const tsc = path.join(ROOT, "node_modules/ts7/bin/tsc");

  const { stdout } = await run(process.execPath, [tsc, "-p", directory]).catch(
    (error: { stdout: string }) => error,
  );
  rmSync(directory, { recursive: true });

  expect(scripts.length).toBeGreaterThan(8);
  expect(stdout).toBe("");
});

test("the options in the tables of docs/sdk.md are ones of its methods", () => {
  const rows = (readText("docs/sdk.md") ?? "").matchAll(/^\| `[a-zA-Z]+\(.*?\{ (.*?) \}.*?` \|/gm);
  const named = [...rows].flatMap(([, names = ""]) => names.split(/[^a-zA-Z]+/)).filter(Boolean);
  const inputs = Object.values(CONTRACT).flatMap(({ input }) => Object.keys(input.shape));
  const sdk = filesBelow(["src/surfaces/client", "src/shared/protocol"], [".ts"]).map(readText);
  const isKnown = (name: string) =>
    inputs.includes(name) || new RegExp(`\\b${name}\\??:`).test(sdk.join("\n"));

  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((name) => !isKnown(name))).toEqual([]);
});

test("each field of a session and of a checkpoint is documented in the SDK's types", () => {
  const types = readText("src/shared/protocol/generated/operation-types.ts") ?? "";
  const bare = ["Session", "Checkpoint"].flatMap((name) => {
    const [, fields = ""] =
      new RegExp(`^export type ${name} = \\{ (.*) \\};$`, "m").exec(types) ?? [];
    const own = fields.replaceAll(/\{[^{}]*\{[^{}]*\}[^{}]*\}|\{[^{}]*\}/g, "object");
    const fieldsOnly = own.replaceAll(/\/\*\*.*?\*\/ /g, "told ");
    return fieldsOnly.split(/; ?/).filter((field) => !/^(told |$)/.test(field));
  });

  expect(bare).toEqual([]);
});
