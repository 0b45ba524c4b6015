import { expect, test } from "vitest";
import { parseChangesSections, parseShowSections } from "./parse-sections.ts";

test("sections are given one by one, or several with commas", () => {
  expect(parseChangesSections("packages, files")).toEqual(["files", "packages"]);
  expect(parseChangesSections("git,files", ["files", "env"])).toEqual(["files", "env", "git"]);
  expect(parseShowSections("commands")).toEqual(["commands"]);
});

test("what is no section is refused with those that are", () => {
  expect(() => parseChangesSections("commands")).toThrow("Give one or more of files, packages");
  expect(() => parseShowSections("files,")).toThrow("Give one or more of intent, files");
});
