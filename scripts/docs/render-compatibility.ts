import { existsSync, readFileSync } from "node:fs";
import { PROGRAMS } from "../../test/zoo/programs/index.ts";
import { GENERATED_NOTE, table } from "./markdown.ts";

/** What the last run of the zoo on this machine found; `vitest run --project zoo` writes it. */
const RUN = new URL("../../.tools/zoo.json", import.meta.url);

interface Row {
  program: string;
  version: string;
  pauseMsP50: number;
  restoreMs: number;
  generations: number;
  result: string;
}

/** Returns docs/compatibility.md from a run of the zoo, or null if none lies here. */
export function renderCompatibility(): string | null {
  if (!existsSync(RUN)) return null;
  const rows = JSON.parse(readFileSync(RUN, "utf8")) as Row[];
  return [
    GENERATED_NOTE,
    "",
    "# Compatibility",
    "",
    "Programs that come back whole. `test/zoo` takes each one, installed from Debian or npm inside a",
    "session, through the same course: checkpoint while it runs, change it, restore, and see the",
    "captured state; two forks that diverge; ten generations of forks of forks. What is under way",
    "(a compile, a download, a rebase) must also come to its right end in each of them.",
    "[limits.md](limits.md) lists what cannot be captured.",
    "",
    "The figures are of one run on the machine that wrote this table, under whatever load it had:",
    "the median pause of all checkpoints of the course, and one restore in place.",
    "",
    table(["Program", "Version", "Pause", "Restore", "Generations", "Result"], rows.map(cellsOf)),
    "",
  ].join("\n");
}

/** Returns the programs of the zoo that `text` does not list; figures may be of any run. */
export function programsMissing(text: string): string[] {
  return PROGRAMS.map(({ name }) => name).filter((name) => !text.includes(`| ${name} |`));
}

function cellsOf(row: Row): string[] {
  return [
    row.program,
    row.version,
    `${Math.round(row.pauseMsP50)} ms`,
    `${Math.round(row.restoreMs)} ms`,
    String(row.generations),
    row.result,
  ];
}
