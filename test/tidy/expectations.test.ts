import { expect, test } from "vitest";
import { buildProgram } from "../../src/surfaces/cli/program.ts";
import { readText } from "./repository.ts";

/** Words of a line of shell without expansions. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
}

test("docs/expectations.md names commands that there are, with options that they have", async () => {
  const spans = (readText("docs/expectations.md") ?? "").matchAll(/`waypoint ([^`]+)`/g);
  const lines = [...spans].map(([, line = ""]) => line);
  const called: string[] = [];

  for (const line of lines) {
    const program = buildProgram({ handle: async () => void called.push(line) });
    await program.parseAsync(wordsOf(line), { from: "user" });
  }

  expect(lines.length).toBeGreaterThan(40);
  expect(called).toEqual(lines);
});
