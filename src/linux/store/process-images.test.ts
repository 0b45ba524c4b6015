import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CheckpointPaths } from "./checkpoint-paths.ts";
import { ProcessImages } from "./process-images.ts";

let directory: string;
let images: ProcessImages;
let paths: CheckpointPaths;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "waypoint-images-"));
  images = new ProcessImages(path.join(directory, "memory"), {
    copyProgramPath: "",
    sumsProgramPath: "",
  });
  const checkpointDir = path.join(directory, "store", "c1");
  paths = {
    checkpointDir,
    snapshotPath: path.join(checkpointDir, "snapshot"),
    imagesDir: path.join(checkpointDir, "images"),
    memoryImagesDir: path.join(directory, "memory", "c1"),
    changedPath: path.join(checkpointDir, "images.changed"),
    sumsPath: path.join(checkpointDir, "sums"),
    manifestPath: path.join(checkpointDir, "manifest"),
  };
  for (const imagesDir of [paths.imagesDir, paths.memoryImagesDir]) {
    mkdirSync(imagesDir, { recursive: true });
    for (const name of ["core-1.img", "inventory.img"])
      writeFileSync(path.join(imagesDir, name), "");
  }
});

afterEach(() => rmSync(directory, { recursive: true }));

test("nobody is sent to images in memory that are about to go", async () => {
  expect(images.locate(paths)).toBe(paths.memoryImagesDir);

  const forgotten = images.forget(paths);

  expect(images.locate(paths)).toBe(paths.imagesDir);
  await forgotten;
});

test("images in memory stay while somebody holds them", async () => {
  {
    using held = images.hold(paths);
    await images.forget(paths);
    expect(images.locate(paths)).toBe(held.imagesDir);
  }

  await images.forget(paths);

  expect(images.locate(paths)).toBe(paths.imagesDir);
});
