import { expect, test } from "vitest";
import type { Checkpoint } from "../../../shared/protocol/index.ts";
import { type Paint, plain } from "../text/style.ts";
import { titleOf } from "./title.ts";

const NONE = {
  name: null,
  tags: [],
  task: null,
  intent: null,
  derivedIntent: null,
  trigger: "manual",
} satisfies Partial<Checkpoint>;
const tagged: Paint = (format, text) => `<${String(format)}>${text}</>`;

function title(facts: Partial<Checkpoint>, paint: Paint = plain, from: string | null = null) {
  const { title, titleEnd } = titleOf({ ...NONE, ...facts } as Checkpoint, from, paint);
  return `${title}${titleEnd}`;
}

test("what was said stands as it was said, what was found says where", () => {
  expect(title({ intent: "port fixed" }, tagged)).toBe("port fixed");
  expect(title({ derivedIntent: { text: "npm test", source: "command" } })).toBe("$ npm test");
  expect(title({ derivedIntent: { text: "Fix it", source: "git" } })).toBe("git: Fix it");
  expect(title({ derivedIntent: { text: "Done", source: "agent" } }, tagged)).toBe(
    "<dim>agent: Done</>",
  );
});

test("a command that failed says so, and one that failed after the change was made", () => {
  const made = { text: "sed -i s/80/81/ app.conf", source: "command", exitCode: 0 } as const;
  const failedAfter = { text: "npm test", exitCode: 1 };

  expect(title({ derivedIntent: made })).toBe("$ sed -i s/80/81/ app.conf");
  expect(title({ derivedIntent: { ...made, exitCode: 2 } }, tagged)).toBe(
    "<dim>$ sed -i s/80/81/ app.conf</> <red>(exit 2)</>",
  );
  expect(title({ derivedIntent: { ...made, failedAfter } })).toBe(
    "$ sed -i s/80/81/ app.conf; npm test (exit 1)",
  );
  expect(title({ intent: "port fixed", derivedIntent: { ...made, failedAfter } })).toBe(
    "port fixed",
  );
});

test("name, what was meant and where it comes from stand side by side", () => {
  const derivedIntent = { text: "make", source: "command" } as const;

  expect(title({ name: "green", derivedIntent }, plain, "aa0000")).toBe(
    "green $ make (from aa0000)",
  );
  expect(title({ trigger: "before-restore", derivedIntent })).toBe("before restore: $ make");
  expect(title({ trigger: "before-stop" })).toBe("before stop");
  expect(title({})).toBe("");
});

test("an automatic checkpoint says what it was taken for", () => {
  const auto = (facts: Partial<Checkpoint>) => title({ trigger: "auto", ...facts });
  const derivedIntent = { text: "make", source: "command" } as const;

  expect(auto({ autoCause: "command", derivedIntent })).toBe("auto after $ make");
  expect(auto({ autoCause: "command" })).toBe("auto after a command");
  expect(auto({ autoCause: "edit" })).toBe("auto after edits");
  expect(auto({ autoCause: "every", derivedIntent })).toBe("auto by the clock: $ make");
  expect(auto({ autoCause: "task", intent: "schema done" })).toBe("auto: schema done");
});

test("nothing that a terminal would obey reaches it, whoever wrote it", () => {
  const hostile = "\u001b]0;owned\u0007\r\n\u009b2J\u202eevil\u2028x\ttab";
  const shown = [
    title({ intent: hostile }),
    title({ name: hostile }),
    title({ derivedIntent: { text: hostile, source: "command" } }),
    title({ derivedIntent: { text: hostile, source: "git" } }),
  ];

  // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what must not be there.
  for (const text of shown) expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e\u2028]/);
});
