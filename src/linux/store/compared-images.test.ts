import { createHash } from "node:crypto";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Compared, ComparedImages } from "./compared-images.ts";

let directory: string;
let compared: Compared;
let images: ComparedImages;

const write = (name: string, content: string) =>
  writeFileSync(path.join(compared.imagesDir, name), content);
/** Of sums that say "sums". */
const DIGEST = `sha256:${createHash("sha256").update("sums").digest("hex")}`;
const right = () => Promise.resolve(DIGEST);

beforeEach(async () => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-compared-"));
  images = new ComparedImages();
  compared = {
    imagesDir: path.join(directory, "images"),
    sumsPath: path.join(directory, "images.sums"),
  };
  mkdirSync(compared.imagesDir);
  writeFileSync(compared.sumsPath, "sums");
  write("pages-1.img", "memory");
  write("core-1.img", "registers");
});

afterEach(() => rmSync(directory, { recursive: true }));

test("images that were compared are as they were until one is written to", async () => {
  expect(await images.isAsCompared(compared)).toBe(false);
  expect(await images.whenRight(compared.imagesDir, right)).toBe(DIGEST);
  expect(await images.isAsCompared(compared)).toBe(true);

  write("pages-1.img", "nemory");

  expect(await images.isAsCompared(compared)).toBe(false);
});

test("another name of the sums is no change", async () => {
  await images.whenRight(compared.imagesDir, right);

  linkSync(compared.sumsPath, path.join(directory, "other.sums"));

  expect(await images.isAsCompared(compared)).toBe(true);
});

test.each([
  ["one that is new", () => write("core-2.img", "")],
  ["other sums", () => writeFileSync(compared.sumsPath, "mums")],
  ["sums that are gone", () => rmSync(compared.sumsPath)],
  ["one that is gone", () => rmSync(path.join(compared.imagesDir, "core-1.img"))],
  [
    "another one in its place",
    () => {
      write("other", "nemory");
      renameSync(
        path.join(compared.imagesDir, "other"),
        path.join(compared.imagesDir, "pages-1.img"),
      );
    },
  ],
  [
    "one whose times were set back",
    () => {
      write("pages-1.img", "nemory");
      utimesSync(path.join(compared.imagesDir, "pages-1.img"), 0, 0);
    },
  ],
])("a change is seen: %s", async (_name, change) => {
  await images.whenRight(compared.imagesDir, right);

  change();

  expect(await images.isAsCompared(compared)).toBe(false);
});

test("what was found wrong, or was changed while it was compared, is not known", async () => {
  await images.whenRight(compared.imagesDir, right);
  await expect(
    images.whenRight(compared.imagesDir, () => Promise.reject(new Error("damaged"))),
  ).rejects.toThrow("damaged");
  expect(await images.isAsCompared(compared)).toBe(false);

  await images.whenRight(compared.imagesDir, async () => {
    write("pages-1.img", "nemory");
    return DIGEST;
  });

  expect(await images.isAsCompared(compared)).toBe(false);
});

test("whoever needs a comparison that is under way waits for it, however it ends", async () => {
  for (const isRight of [true, false]) {
    const read = Promise.withResolvers<void>();
    const comparison = images.whenRight(compared.imagesDir, async () => {
      await read.promise;
      if (!isRight) throw new Error("damaged");
      return DIGEST;
    });
    comparison.catch(() => {});

    expect(await images.isAsCompared(compared)).toBe(false);
    const then = images.isAsComparedThen(compared);
    read.resolve();

    expect(await then).toBe(isRight);
  }
});
