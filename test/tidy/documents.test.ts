import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { renderPages } from "../../scripts/docs/pages.ts";
import { renderDescribed } from "../../scripts/docs/render-described.ts";
import { renderOperationTypes } from "../../scripts/docs/render-operation-types.ts";
import { filesBelow, projectFiles, ROOT, readText, roomsOfSource } from "./repository.ts";

describe("documents", () => {
  test("generated documents are what the code says", async () => {
    const stale = (await renderPages()).filter(({ path: file, text }) => readText(file) !== text);

    expect(stale.map((page) => page.path)).toEqual([]);
  });

  test("what the command line knows of the contract is what it says", () => {
    expect(readText("src/shared/protocol/generated/described.ts")).toBe(renderDescribed());
  });

  test("the types of operations are those of the contract's schemas", async () => {
    const types = await renderOperationTypes();

    expect(readText("src/shared/protocol/generated/operation-types.ts")).toBe(types);
  });

  test("docs/ARCHITECTURE.md draws the tree of src as it is", () => {
    const tree = /^src\/\n(.*?)^native\//ms.exec(readText("docs/ARCHITECTURE.md") ?? "")?.[1] ?? "";
    let house = "";
    const drawn = [...tree.matchAll(/^ {2}( {2})?([a-z-]+)\//gm)].map(([, inside, name = ""]) => {
      if (inside === undefined) house = name;
      return inside === undefined ? name : `${house}/${name}`;
    });
    const rooms = roomsOfSource();
    const houses = rooms.map((room) => room.replace(/\/.*/, ""));

    expect(drawn.toSorted()).toEqual([...new Set([...houses, ...rooms])].toSorted());
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

  test("words that went stay away", () => {
    const [, section = ""] = (readText("docs/GLOSSARY.md") ?? "").split("## Words that went");
    const gone = [...section.matchAll(/^\| ([\w, ]+) \|/gm)]
      .flatMap(([, words = ""]) => words.split(", "))
      .filter((word) => word !== "Gone");
    // As a word of its own or as part of a name: giveBack, giveBackLater, canGiveBack.
    const parts = gone.flatMap((word) => [`\\b${word}`, `(?<=[a-z])${capital(word)}`]);
    const pattern = new RegExp(`(${parts.join("|")})s?(?![a-z])`);
    const sources = filesBelow(["src", "native", "bench", "examples"], [".ts", ".tsx", ".c", ".h"]);

    expect(gone.length).toBeGreaterThan(20);
    expect(sources.filter((file) => pattern.test(readText(file) ?? ""))).toEqual([]);
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

function capital(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
