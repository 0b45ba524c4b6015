import { readLastRun, type ZooRow } from "../../test/zoo/last-run.ts";
import { PROGRAMS } from "../../test/zoo/programs/index.ts";
import { GENERATED_NOTE, table } from "./markdown.ts";

const GENERATIONS_MIN = 10;
const NAMES = PROGRAMS.map(({ name }) => name);
const ROW = /^\| (?!Program |---)(.+?) \| (.+?) \| \d+ ms \| \d+ ms \| (\d+) \| right \|$/gm;
const RUN = /^Run on Debian \S+, Linux \S+ and CRIU \S+, \d{4}-\d\d-\d\d/m;

/** Returns docs/compatibility.md from a run of the zoo, or null if none lies here. */
export function renderCompatibility(): string | null {
  const run = readLastRun();
  if (run === null) return null;
  const rows = NAMES.flatMap((name) => run.find(({ program }) => program === name) ?? []);
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
    ...runsOf(rows),
    "",
    "The figures are of that run, under whatever load its machine had: the median pause of all",
    "checkpoints of the course, and one restore in place.",
    "",
    table(["Program", "Version", "Pause", "Restore", "Generations", "Result"], rows.map(cellsOf)),
    "",
  ].join("\n");
}

/**
 * Returns what is stale in `text`, docs/compatibility.md: programs, and what must be said of each.
 * Figures and versions may be of any run.
 */
export function compatibilityFaults(text: string): string[] {
  const rows = [...text.matchAll(ROW)];
  const listed = rows
    .filter(([, , , generations]) => Number(generations) >= GENERATIONS_MIN)
    .map(([, name = ""]) => name);
  const missing = NAMES.filter((name) => !listed.includes(name));
  const gone = listed.filter((name) => !NAMES.includes(name));
  return [
    ...missing.map((name) => `lacks a right row of "${name}"`),
    ...gone.map((name) => `lists "${name}", which is not in the zoo`),
    ...(RUN.test(text) ? [] : ["does not say on what the zoo was run"]),
  ];
}

/** One line for each machine and day; a run of all programs has one. */
function runsOf(rows: readonly ZooRow[]): string[] {
  const runs = rows.map(
    ({ debian, kernel, criu, day }) =>
      `Run on Debian ${debian}, Linux ${kernel} and CRIU ${criu}, ${day}`,
  );
  return [...new Set(runs)].map((run) => {
    const count = runs.filter((other) => other === run).length;
    return `${run}: ${count} programs.`;
  });
}

function cellsOf(row: ZooRow): string[] {
  return [
    row.program,
    row.version,
    `${Math.round(row.pauseMsP50)} ms`,
    `${Math.round(row.restoreMs)} ms`,
    String(row.generations),
    "right",
  ];
}
