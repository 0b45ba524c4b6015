import path from "node:path";
import { describe, expect, test } from "vitest";
import { filesBelow, isExecutable, projectFiles, readText, roomsOfSource } from "./repository.ts";

const CODE_FOLDERS = ["src", "native", "test", "scripts", "bench"];
const CODE_EXTENSIONS = [".ts", ".mjs", ".js", ".c", ".h", ".sh", ".py"];
const FILE_LINES_MAX = 300;
/** Tables are read a row at a time: what CRIU refuses, and what a script writes. */
const TABLES = [
  "src/linux/criu/dump-failure-patterns.ts",
  "src/shared/protocol/generated/described.ts",
];
const BANNED_NAMES = ["utils", "util", "helpers", "helper", "common", "misc", "manager"];

describe("files", () => {
  test(`no source file is longer than ${FILE_LINES_MAX} lines`, () => {
    const tooLong = filesBelow(CODE_FOLDERS, CODE_EXTENSIONS)
      .map((file) => ({ file, lines: (readText(file) ?? "").trimEnd().split("\n").length }))
      .filter(({ file, lines }) => lines > FILE_LINES_MAX && !TABLES.includes(file));

    expect(tooLong).toEqual([]);
  });

  test("no file or folder has a name that says nothing", () => {
    const meaningless = filesBelow(CODE_FOLDERS, CODE_EXTENSIONS).filter((file) =>
      file
        .split("/")
        .flatMap((part) => part.split(/[.\-_]/))
        .some((word) => BANNED_NAMES.includes(word)),
    );

    expect(meaningless).toEqual([]);
  });

  test("source file names are in kebab case", () => {
    const odd = filesBelow(CODE_FOLDERS, [".ts", ".mjs"]).filter(
      (file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)+$/.test(path.basename(file)),
    );

    expect(odd).toEqual([]);
  });

  test("a file is executable if and only if it says what runs it", () => {
    const wrong = projectFiles().filter((file) => {
      const text = readText(file);
      return text !== null && text.startsWith("#!") !== isExecutable(file);
    });

    expect(wrong).toEqual([]);
  });

  test("text files end with one line feed and have no trailing spaces", () => {
    const extensions = [".ts", ".mjs", ".c", ".h", ".sh", ".md", ".json"];
    const untidy = projectFiles()
      .filter((file) => extensions.includes(path.extname(file)))
      .filter((file) => {
        const text = readText(file) ?? "";
        return (
          text !== "" && (!text.endsWith("\n") || text.endsWith("\n\n") || /[ \t]$/m.test(text))
        );
      });

    expect(untidy).toEqual([]);
  });
});

describe("source text", () => {
  test("no test is singled out or left out", () => {
    const pattern = /\b(test|it|describe)\.(only|skip|todo)\(/;
    const found = filesBelow(["src", "test"], [".ts"]).filter((file) =>
      pattern.test(readText(file) ?? ""),
    );

    expect(found).toEqual([]);
  });

  test("what is left to do names its issue", () => {
    const pattern = /\b(?:TO[D]O|FIX[M]E|X[X]X)\b(?! ?\(#\d+\))/;
    const found = filesBelow(CODE_FOLDERS, CODE_EXTENSIONS).filter((file) =>
      pattern.test(readText(file) ?? ""),
    );

    expect(found).toEqual([]);
  });

  test("every room of src has a door that says what it owns", () => {
    const doorless = roomsOfSource().filter((room) => {
      const door = readText(`src/${room}/index.ts`);
      return door === null || !/^\/\*\*\n \* [\w-]+ owns /.test(door);
    });

    expect(doorless).toEqual([]);
  });
});
