import { describe, expect, test } from "vitest";
import { ERROR_REGISTRY, type ErrorCode } from "../../src/shared/errors/index.ts";
import { reachedCodes } from "./reached-codes.ts";
import { filesBelow, readText } from "./repository.ts";
import { NOT_REACHED, NOT_THROWN } from "./unreached-codes.ts";

const CODES = Object.keys(ERROR_REGISTRY) as ErrorCode[];
const SOURCE = [".ts", ".mjs", ".c", ".h"];

/** Where codes are listed, not thrown: the registry, the contracts, and the help of the command line. */
const NAMES_CODES_ONLY = [
  ...["src/shared/errors/registry.ts", "src/shared/protocol/", "src/surfaces/cli/table/"],
];

function textOf(files: readonly string[]): string {
  return files.map((file) => readText(file) ?? "").join("\n");
}

function isTest(file: string): boolean {
  return file.endsWith(".test.ts");
}

/** These make errors of any code. */
function isOfErrors(file: string): boolean {
  return file.startsWith("src/shared/errors/");
}

describe("error codes", () => {
  const productText = textOf(
    filesBelow(["src", "native", "scripts"], SOURCE).filter(
      (file) => !isTest(file) && !NAMES_CODES_ONLY.some((start) => file.startsWith(start)),
    ),
    // Who asks for a code does not throw it.
  ).replace(/hasCode\(\w+, "[A-Z_]+"\)/g, "");
  const testFiles = filesBelow(["src", "test"], SOURCE).filter(
    (file) => isTest(file) && !isOfErrors(file) && !file.startsWith("test/tidy/"),
  );

  test("every code is documented", () => {
    const page = readText("docs/errors.md") ?? "";

    expect(CODES.filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
  });

  test("every code is thrown somewhere, or named as not thrown yet", () => {
    const silent = CODES.filter((code) => !productText.includes(`"${code}"`));

    expect(silent).toEqual(CODES.filter((code) => code in NOT_THROWN));
  });

  test("every code is reached by a test, or named as not reached", () => {
    const reached = new Set(testFiles.flatMap((file) => reachedCodes(readText(file) ?? "", CODES)));
    const unreached = CODES.filter((code) => !reached.has(code));

    expect(unreached).toEqual(CODES.filter((code) => code in NOT_REACHED));
  });

  test("every meaning is one sentence", () => {
    const odd = CODES.filter((code) => !/^[A-Z][^\n]+\.$/.test(ERROR_REGISTRY[code].meaning));

    expect(odd).toEqual([]);
  });
});

describe("a code", () => {
  const codes = ["BUSY", "GONE"];

  test.each([
    'await expect(restore()).rejects.toMatchObject({ code: "BUSY" });',
    'expect([told.exitCode, told.error.code]).toEqual([10, "BUSY"]);',
    "expect(stderr).toMatch(/^Error BUSY/);",
    'const isBusy = hasCode(error, "BUSY");',
    'test.each([["BUSY", "new"]])("%s", () => {});',
  ])("is reached by what is expected: %s", (text) => {
    expect(reachedCodes(text, codes)).toEqual(["BUSY"]);
  });

  test.each([
    'test("says BUSY", () => {});',
    'test("says so", () => {}); // expect "BUSY"',
    'const fake = () => { throw { code: "BUSY" }; };',
    'throw new WaypointError("BUSY", "m"); expect(error).toMatchObject({ code: "BUSY" });',
  ])("is not reached by its name alone: %s", (text) => {
    expect(reachedCodes(text, codes)).toEqual([]);
  });
});
