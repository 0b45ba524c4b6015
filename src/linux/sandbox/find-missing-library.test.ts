import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { OpenBytes } from "../../base/index.ts";
import { ElfImage } from "../../formats/elf/index.ts";
import { findMissingLibrary } from "./find-missing-library.ts";

const PROGRAM = "/bin/bash";
const directories: string[] = [];
let baseDir: string;
let needed: string[];

/** A base with the host's shell and, below /libraries, all that it needs. */
beforeEach(() => {
  baseDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-libraries-"));
  directories.push(baseDir);
  mkdirSync(path.join(baseDir, "bin"));
  mkdirSync(path.join(baseDir, "libraries"));
  mkdirSync(path.join(baseDir, "etc"));
  copyFileSync(PROGRAM, path.join(baseDir, PROGRAM));
  needed = neededBy(PROGRAM);
  for (const name of [...needed, "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"]) {
    const found = hostDirs().map((dir) => path.join(dir, name));
    const from = found.find((file) => findable(file));
    if (from !== undefined) {
      copyFileSync(from, path.join(baseDir, "libraries", name));
    }
  }
});

afterAll(() => {
  for (const each of directories) rmSync(each, { recursive: true });
});

function neededBy(program: string): string[] {
  using bytes = new OpenBytes(program);
  const elf = new ElfImage(bytes.readAt);
  return elf.dynamic().needed;
}

function hostDirs(): string[] {
  return ["/lib64", "/lib", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib64"];
}

function findable(file: string): boolean {
  try {
    new OpenBytes(file)[Symbol.dispose]();
    return true;
  } catch {
    return false;
  }
}

test("the host's own shell lacks nothing", () => {
  expect(needed.length).toBeGreaterThan(0);
  expect(findMissingLibrary("/", PROGRAM)).toBeNull();
});

test("a library that is nowhere is named, with who needs it", () => {
  expect(findMissingLibrary(baseDir, PROGRAM)).toEqual({ name: needed[0], neededBy: PROGRAM });
});

test.each([
  ["a usual directory", () => symlinkSync("libraries", path.join(baseDir, "lib64"))],
  [
    "a directory of a configuration file",
    () => {
      mkdirSync(path.join(baseDir, "etc", "ld.so.conf.d"));
      writeFileSync(path.join(baseDir, "etc/ld.so.conf.d/own.conf"), "# ours\n/libraries\n");
    },
  ],
  [
    "the loader's cache",
    () => {
      const names = [...needed, "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"];
      const paths = names.map((name) => `${name}\0/libraries/${name}\0`);
      writeFileSync(
        path.join(baseDir, "etc/ld.so.cache"),
        `glibc-ld.so.cache1.1\0${paths.join("")}`,
      );
    },
  ],
])("a library is found by way of %s", (_what, tell) => {
  tell();

  expect(findMissingLibrary(baseDir, PROGRAM)).toBeNull();
});

test("a library that a library needs is missed, too", () => {
  symlinkSync("libraries", path.join(baseDir, "lib64"));
  const libc = needed.find((name) => name.startsWith("libc.")) ?? "";
  const [loader] = neededBy(path.join(baseDir, "libraries", libc));
  rmSync(path.join(baseDir, "libraries", loader ?? ""));

  expect(findMissingLibrary(baseDir, PROGRAM)).toEqual({
    name: loader,
    neededBy: expect.stringMatching(/^\/lib64\//),
  });
});

test("a library for another machine is none", () => {
  symlinkSync("libraries", path.join(baseDir, "lib64"));
  const [name = ""] = needed;
  const foreign = Buffer.alloc(64);
  foreign.write("\u007fELF\u0002\u0001", "latin1");
  foreign.writeUInt16LE(243, 18); // RISC-V
  writeFileSync(path.join(baseDir, "libraries", name), foreign);

  expect(findMissingLibrary(baseDir, PROGRAM)?.name).toBe(name);
});
