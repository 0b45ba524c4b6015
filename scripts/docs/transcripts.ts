import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";

/** A block of a document that a command has printed. */
const BLOCK = /(<!-- printed: ([\w-]+) -->\n```\w*\n)([\s\S]*?)(^```$)/gm;
const PART_TIMEOUT_MS = 5 * 60_000;

/** Runs every part of a walk, and returns what each of its blocks printed. */
export function runWalk(directory: string): Map<string, string> {
  const parts = readdirSync(directory).filter((name) => /^\d.*\.sh$/.test(name));
  const printed = parts.sort().map((part) =>
    execFileSync("sh", [path.join(directory, part)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
      timeout: PART_TIMEOUT_MS,
    }),
  );
  const blocks = printed.join("").split(/^== /m).slice(1);
  return new Map(
    blocks.map((block) => {
      const end = block.indexOf("\n");
      return [block.slice(0, end), `${block.slice(end + 1).trimEnd()}\n`];
    }),
  );
}

/** Returns the names of a document's blocks. */
export function blocksOf(markdown: string): string[] {
  return [...markdown.matchAll(BLOCK)].map(([, , name = ""]) => name);
}

/** Returns the document with what was printed now, and the names of blocks that told something else. */
export function fillIn(
  markdown: string,
  printed: ReadonlyMap<string, string>,
): { text: string; stale: string[] } {
  const stale: string[] = [];
  const text = markdown.replace(
    BLOCK,
    (_, head: string, name: string, old: string, end: string) => {
      const now = printed.get(name);
      if (now === undefined || whatItSays(now) !== whatItSays(old)) stale.push(name);
      return `${head}${now ?? old}${end}`;
    },
  );
  return { text, stale };
}

/** Returns a transcript without what differs from run to run: ids, times, sizes, who was first. */
export function whatItSays(transcript: string): string {
  return (
    transcript
      // Tests of one round end in any order, and one that is not needed any more is given up.
      .replaceAll(/^ {2}[✓✗] \w+ .*\n/gm, "")
      .replaceAll(/^Under way:.*\n/gm, "")
      .replaceAll(/(, | {2})?the standby of \w+/g, "")
      .replaceAll(/\b[a-z0-9]{10}\b|(?<=[●○] .{0,4})\b[a-z0-9]{6}\b|(?<=index )[0-9a-f.]+/g, "ID")
      .replaceAll(/\d\d:\d\d(:\d\d)?/g, "TIME")
      .replaceAll(/\b[\d.,]+ (ms|s|KiB|MiB)\b/g, "AMOUNT")
      .replaceAll(/\b\d+[smh] (old|ago)\b/g, "AGE $1")
      .replaceAll(/\b(process |:8123 +)\d+/g, "$1PID")
      .replaceAll(/[ │…]+/g, " ")
  );
}
