import { existsSync, readFileSync } from "node:fs";
import { COMMAND_TABLE } from "../../src/surfaces/cli/index.ts";
import { renderCli } from "./render-cli.ts";
import { renderErrors } from "./render-errors.ts";
import { renderMan } from "./render-man.ts";
import { renderOperations } from "./render-operations.ts";

/** A generated document: its path in the repository and its whole text. */
export interface Page {
  path: string;
  text: string;
}

const PACKAGE = new URL("../../package.json", import.meta.url);
const PROGRAM = new URL("../../src/surfaces/cli/program.ts", import.meta.url);

/** Returns all generated documents as they should be. */
export async function renderPages(): Promise<Page[]> {
  const pages = [
    { path: "docs/errors.md", text: renderErrors() },
    { path: "docs/operations.md", text: renderOperations() },
  ];
  if (existsSync(PROGRAM)) {
    const { buildProgram } = await import(PROGRAM.href);
    const program = buildProgram();
    pages.push({ path: "docs/cli.md", text: renderCli(program, COMMAND_TABLE) });
    const manual = renderMan(program, COMMAND_TABLE);
    pages.push(...manual, { path: "package.json", text: packageNaming(manual) });
  }
  return pages;
}

/** npm installs the manual pages that package.json names. */
function packageNaming(manual: readonly Page[]): string {
  const stated = JSON.parse(readFileSync(PACKAGE, "utf8")) as Record<string, unknown>;
  const man = manual.map(({ path }) => `./${path}`).toSorted();
  return `${JSON.stringify({ ...stated, man }, null, 2)}\n`;
}
