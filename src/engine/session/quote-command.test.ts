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
  const lines = fc.array(line, { minLength: 20, maxLength: 20 });
  fc.assert(
    fc.property(lines, (each) => {
      const given = each.map((words) => [...words.filter((text) => !text.includes("\0")), "end"]);
      const quoted = given.map((words) => quoteCommand(["printf", "%s\\0", ...words], dialect));

      // A shell takes longer to start than to run many commands.
      const printed = execFileSync(program, ["-c", quoted.join("\n")]).toString("utf8");

      expect(printed.split("\0").slice(0, -1)).toEqual(given.flat());
    }),
    { numRuns: 3 },
  );
});
