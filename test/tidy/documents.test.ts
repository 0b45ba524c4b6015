import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { renderPages } from "../../scripts/docs/pages.ts";
import { filesBelow, projectFiles, ROOT, readText } from "./repository.ts";

describe("documents", () => {
  test("generated documents are what the code says", async () => {
    const stale = (await renderPages()).filter(({ path: file, text }) => readText(file) !== text);

    expect(stale.map((page) => page.path)).toEqual([]);
  });

  test("docs/ARCHITECTURE.md lists every folder of src", () => {
    const text = readText("docs/ARCHITECTURE.md") ?? "";
    const folders = new Set(
      filesBelow(["src"], [".ts"])
        .map((file) => file.split("/"))
        .filter((parts) => parts.length > 2)
        .map((parts) => parts[1] ?? ""),
    );

    expect([...folders].filter((folder) => !text.includes(`${folder}/`))).toEqual([]);
  });

  test("every page of docs/notes names its sources", () => {
    const pages = filesBelow(["docs/notes"], [".md"]);

    expect(pages.filter((page) => !/\]\(https:\/\/\S+\)/.test(readText(page) ?? ""))).toEqual([]);
  });

  test("every word of the glossary has one row", () => {
    const rows = (readText("docs/GLOSSARY.md") ?? "").matchAll(/^\| \*\*(.+?)\*\* \|/gm);
    const words = [...rows].flatMap((row) => (row[1] ?? "").split(", "));
    const twice = words.filter((word, index) => words.indexOf(word) !== index);

    expect(words.length).toBeGreaterThan(20);
    expect(twice).toEqual([]);
  });

  test("links between documents lead somewhere", () => {
    const pages = projectFiles().filter((file) => file.endsWith(".md"));
    const broken = pages.flatMap((page) =>
      [...(readText(page) ?? "").matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)]
        .map((match) => match[1] ?? "")
        .filter((target) => !/^[a-z]+:/.test(target))
        .filter((target) => !existsSync(path.join(ROOT, path.dirname(page), target)))
        .map((target) => `${page}: ${target}`),
    );

    expect(broken).toEqual([]);
  });
});
