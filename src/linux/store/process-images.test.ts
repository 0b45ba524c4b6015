import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { CheckpointPaths } from "./checkpoint-paths.ts";
import { ProcessImages } from "./process-images.ts";

// Whether it can be counted by itself is of no interest here, and takes btrfs.
vi.mock(import("./btrfs-ioctl.ts"), async (original) => ({
  ...(await original()),
  createSubvolume: (path: string) => void mkdirSync(path),
  isSubvolume: () => false,
}));

/** Notes what it is asked for, and waits until there is a file `go` beside it. */
const SUMS_PROGRAM = `#!/bin/sh
here=$(dirname "$0")
until [ -e "$here/go" ]; do sleep 0.01; done
echo "$(basename "$(dirname "$2")") from \${5:-nothing}" >> "$here/asked"
echo sums > "$3"
`;

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

test("checkpoints in a row wait for the sums of the one before, and begin with them", async () => {
  const programPath = path.join(directory, "image-sums");
  writeFileSync(programPath, SUMS_PROGRAM, { mode: 0o755 });
  const programs = { copyProgramPath: "", sumsProgramPath: programPath };
  const inStore = new ProcessImages(path.join(directory, "memory"), programs);
  const row = ["r1", "r2", "r3"].map((id) => {
    const checkpointDir = path.join(directory, "store", id);
    mkdirSync(checkpointDir);
    const inDir = (name: string) => path.join(checkpointDir, name);
    return {
      ...{ checkpointDir, snapshotPath: inDir("snapshot"), manifestPath: inDir("manifest") },
      ...{ imagesDir: inDir("images"), memoryImagesDir: path.join(directory, "memory", id) },
      ...{ changedPath: inDir("images.changed"), sumsPath: inDir("sums") },
    };
  });
  for (const [at, made] of row.entries()) {
    await inStore.makeInStore(made, row[at - 1] ?? null);
    writeFileSync(path.join(made.imagesDir, "inventory.img"), "");
  }

  const sums = row.map((made) => inStore.sum(made));
  writeFileSync(path.join(directory, "go"), "");
  await Promise.all(sums);

  const [r1 = "", r2 = ""] = row.map(({ sumsPath }) => sumsPath);
  expect(readFileSync(path.join(directory, "asked"), "utf8")).toBe(
    `r1 from nothing\nr2 from ${r1}\nr3 from ${r2}\n`,
  );
});
