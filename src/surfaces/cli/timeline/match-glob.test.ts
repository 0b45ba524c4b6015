import { expect, test } from "vitest";
import { matchesGlob } from "./match-glob.ts";

test.for([
  ["*.log", "a.log"],
  ["*.log", "deep/in/a.log"],
  ["coverage", "coverage/index.html"],
  ["coverage/", "app/coverage/index.html"],
  ["app/*.js", "srv/app/x.js"],
  ["app/**", "app/a/b.js"],
  ["app/**/b.js", "app/b.js"],
  ["app/**/b.js", "app/a/c/b.js"],
  ["**/b.js", "b.js"],
  ["/srv/x", "/srv/x/y"],
  ["?.txt", "ä.txt"],
  ["a*b*c", "aXbYc"],
  ["[a]", "[a]"],
] as const)("%s names %s", ([glob, path]) => {
  expect(matchesGlob(glob, path)).toBe(true);
});

test.for([
  ["*.log", "a.logs"],
  ["coverage", "coverages/x"],
  ["app/*.js", "app/a/x.js"],
  ["app/**/b.js", "app/xb.js"],
  ["/srv/x", "old/srv/x"],
  ["?", "ab"],
  ["/", "/srv"],
  ["a", ""],
] as const)("%s does not name %s", ([glob, path]) => {
  expect(matchesGlob(glob, path)).toBe(false);
});

test("a glob that would lead a regular expression round in circles ends", () => {
  expect(matchesGlob(`${"*a".repeat(99)}b`, "a".repeat(250))).toBe(false);
  expect(matchesGlob(`${"**/".repeat(60)}b`, "a/".repeat(125))).toBe(false);
});
