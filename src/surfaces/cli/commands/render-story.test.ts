import { expect, test } from "vitest";
import type { FileChange, OperationOutput } from "../../../shared/protocol/index.ts";
import { plain } from "../text/style.ts";
import { renderAsked, renderStory, renderUnlisted } from "./render-story.ts";

type Shown = OperationOutput<"show">;

const FILE = { change: "added", type: "file", sizeBefore: null, sizeAfter: 1 } as const;
const COMMAND = {
  ...{ command: "npm test", by: "exec", startedAt: "2026-03-04T14:00:00.000Z" },
  ...{ durationMs: 1500, exitCode: 1, output: "", outputBytes: 0 },
} as const;

function shown(facts: { files?: FileChange[]; commands?: object[]; unknown?: object } = {}): Shown {
  const { files = [], commands = [], unknown = {} } = facts;
  const added = files.length;
  return {
    ...{ id: "bb", parent: "aa", verification: null },
    changes: {
      ...{ summary: "", files, packages: [], processes: null, ports: null, connections: null },
      ...{ env: [], functions: [], cwd: null, virtualenv: null, git: [], unknown },
      fileTotals: { added, modified: 0, deleted: 0, renamed: 0, directories: 0 },
    },
    story: { intent: null, terminal: null, commands, unknown: { terminal: "files alone" } },
  } as unknown as Shown;
}

test("a long list of files is cut with how to see the rest, and whole where it is asked for", () => {
  const files = Array.from({ length: 50 }, (_, index) => ({ ...FILE, path: `/f${index}` }));

  const lines = renderStory(shown({ files }), { paint: plain });

  expect(lines.slice(0, 3)).toEqual(["", "Files", "+ /f0  1 B"]);
  expect(lines.at(-1)).toBe("… and 20 more: waypoint show bb --section files");
  expect(renderAsked(shown({ files }), ["files"], plain)).toHaveLength(51);
});

test("a command is told with exit code, duration and the end of what it printed", () => {
  const output = `${Array.from({ length: 12 }, (_, index) => `line ${index}`).join("\n")}\n`;
  const runs = { ...COMMAND, command: "sleep 9", exitCode: null, durationMs: null };

  expect(
    renderStory(shown({ commands: [{ ...COMMAND, output }, runs] }), { paint: plain }),
  ).toEqual([
    ...["", "Commands", "EXIT   TOOK  COMMAND", "   1  1.5 s  npm test"],
    "      │ … 4 lines",
    ...[4, 5, 6, 7, 8, 9, 10, 11].map((line) => `      │ line ${line}`),
    "   -   runs  sleep 9",
  ]);
});

test("what commands printed cannot move the cursor or change the window", () => {
  const output = "\u001b[31mred\u001b[0m\r\n50%\r100%\u0007\u202e\n\u009b2J\u001b]0;owned\u0007";
  const command = { ...COMMAND, command: "a\u001b[2J\nb", output };

  const lines = renderAsked(shown({ commands: [command] }), ["commands"], plain);

  // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what must not be there.
  for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  expect(lines).toContain("   1  1.5 s  a␛[2J␊b");
  expect(lines).toContain("      │ red");
});

test("only the sections that were asked for are shown, with what is unknown of them", () => {
  const given = shown({
    files: [{ ...FILE, path: "/a" }],
    commands: [COMMAND],
    unknown: { ports: "gone" },
  });

  expect(renderAsked(given, ["ports", "terminal"], plain)).toEqual([
    "Unknown: ports (gone)",
    "Unknown: terminal (files alone)",
  ]);
  expect(renderAsked(given, ["verification"], plain)).toEqual(["Verification", "never"]);
  expect(renderUnlisted(given, plain)).toEqual([
    "",
    "Unknown: ports (gone)",
    "Unknown: terminal (files alone)",
  ]);
});
