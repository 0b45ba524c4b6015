import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ComparedImages } from "./compared-images.ts";

let directory: string;
let images: ComparedImages;

const write = (name: string, content: string) => writeFileSync(path.join(directory, name), content);
const right = () => Promise.resolve("right");

beforeEach(async () => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-compared-"));
  images = new ComparedImages();
  write("pages-1.img", "memory");
  write("core-1.img", "registers");
});

afterEach(() => rmSync(directory, { recursive: true }));

test("images that were compared are as they were until one is written to", async () => {
  expect(await images.isAsCompared(directory)).toBe(false);
  expect(await images.whenRight(directory, right)).toBe("right");
  expect(await images.isAsCompared(directory)).toBe(true);

  write("pages-1.img", "nemory");

  expect(await images.isAsCompared(directory)).toBe(false);
});

test.each([
  ["one that is new", () => write("core-2.img", "")],
  ["one that is gone", () => rmSync(path.join(directory, "core-1.img"))],
  [
    "another one in its place",
    () => {
      write("other", "nemory");
      renameSync(path.join(directory, "other"), path.join(directory, "pages-1.img"));
    },
  ],
  [
    "one whose times were set back",
    () => {
      write("pages-1.img", "nemory");
      utimesSync(path.join(directory, "pages-1.img"), 0, 0);
    },
  ],
])("a change is seen: %s", async (_name, change) => {
  await images.whenRight(directory, right);

  change();

  expect(await images.isAsCompared(directory)).toBe(false);
});

test("what was found wrong, or was changed while it was compared, is not known", async () => {
  await images.whenRight(directory, right);
  await expect(
    images.whenRight(directory, () => Promise.reject(new Error("damaged"))),
  ).rejects.toThrow("damaged");
  expect(await images.isAsCompared(directory)).toBe(false);

  await images.whenRight(directory, async () => write("pages-1.img", "nemory"));

  expect(await images.isAsCompared(directory)).toBe(false);
});
