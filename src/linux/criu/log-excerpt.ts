const LINES_BEFORE = 3;
const LINES_MAX = 24;
const LINE_LENGTH_MAX = 300;

/** An error of every run on a machine without CAP_SYS_RESOURCE, with no effect. */
const HARMLESS = /Can't setup RLIMIT_NOFILE for self/;

/** Returns the lines around the first error, bounded; the log is a session's to influence. */
export function excerptAroundErrors(log: string): string[] {
  const lines = log.split("\n").filter((line) => line !== "" && !HARMLESS.test(line));
  const first = lines.findIndex((line) => isTelling(line));
  const start =
    first === -1 ? Math.max(0, lines.length - LINES_MAX) : Math.max(0, first - LINES_BEFORE);
  return lines.slice(start, start + LINES_MAX).map((line) => line.slice(0, LINE_LENGTH_MAX));
}

function isTelling(line: string): boolean {
  return line.includes("Error (") && !HARMLESS.test(line);
}
