import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { quoteCommand } from "./quote-command.ts";

test("one word is a line of shell already", () => {
  expect(quoteCommand(["echo $HOME | wc"], "bash")).toBe("echo $HOME | wc");
});

test("plain words stay as they are, so that aliases and builtins are found", () => {
  expect(quoteCommand(["cd", "/srv/a-b_c.d", "x=1", "100%", "a,b:c@d+e"], "bash")).toBe(
    "cd /srv/a-b_c.d x=1 100% a,b:c@d+e",
  );
});

test("an empty word and a quote survive", () => {
  expect(quoteCommand(["echo", "", "it's"], "bash")).toBe("echo '' 'it'\\''s'");
});

test("fish takes a backslash between quotes for an escape", () => {
  expect(quoteCommand(["echo", "a\\b c"], "fish")).toBe("echo 'a\\\\b c'");
});

const POSIX_SHELLS = [
  ["bash", "bash"],
  ["sh", "posix"],
] as const;

test.each(POSIX_SHELLS)("what %s hands to a program is what was given", (program, dialect) => {
  const word = fc.string({ unit: "binary", maxLength: 40 }).filter((text) => !text.includes("\0"));
  const line = fc.array(fc.oneof(word, fc.string({ maxLength: 20 })), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(line, (words) => {
      const given = words.filter((text) => !text.includes("\0"));
      const quoted = quoteCommand(["printf", "%s\\0", ...given, "end"], dialect);

      const printed = execFileSync(program, ["-c", quoted]).toString("utf8");

      expect(printed.split("\0").slice(0, -1)).toEqual([...given, "end"]);
    }),
    { numRuns: 60 },
  );
});
