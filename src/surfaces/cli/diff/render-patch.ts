import type { FileChange } from "../../../shared/protocol/index.ts";
import { printable, printableLines } from "../text/printable.ts";
import type { Paint } from "../text/style.ts";

const REASONS = {
  binary: "binary files differ",
  "too-large": "too large to be compared line by line",
  omitted: "lines left out; give its path to see them",
} as const;

/** Returns the lines of a text that differ, coloured as git does it. */
export function renderPatch({ path, patch, noPatch }: FileChange, paint: Paint): string[] {
  if (noPatch !== undefined) {
    return ["", paint("dim", `${printable(path)}: ${REASONS[noPatch]}`)];
  }
  if (patch === undefined || patch === "") return [];
  const lines = printableLines(patch).replace(/\n$/, "").split("\n");
  return ["", ...lines.map((line, index) => paintLine(line, index, paint))];
}

function paintLine(line: string, index: number, paint: Paint): string {
  // The first two lines name the file; a removed line of dashes may look like them.
  if (index < 2) return paint("bold", line);
  if (line.startsWith("@@")) return paint("cyan", line);
  if (line.startsWith("+")) return paint("green", line);
  return line.startsWith("-") ? paint("red", line) : line;
}
