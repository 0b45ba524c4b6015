import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findProgramFault } from "./find-program-fault.ts";

const X86_64 = 62;
let baseDir: string;

beforeAll(() => {
  baseDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-elf-"));
});
afterAll(() => rmSync(baseDir, { recursive: true }));

function faultOf(bytes: Uint8Array | string): string | null {
  writeFileSync(path.join(baseDir, "sh"), bytes);
  return findProgramFault(baseDir, "/sh");
}

test("Node's own program can run where it is", () => {
  expect(findProgramFault("/", process.execPath)).toBeNull();
});

test("a script is as good as its interpreter", () => {
  expect(faultOf("#! /nothing here\n")).toBe("/sh is a script for /nothing, which is missing");
  expect(faultOf("#!/sh\n")).toBe("/sh is a script of too many interpreters");
  expect(faultOf("#!\n")).toBe("/sh is a script for nothing, which is missing");
});

test("any bytes behind an ELF header give an answer, never an exception", () => {
  const header = fc.uint8Array({ minLength: 0, maxLength: 200 });
  const property = fc.property(header, fc.constantFrom(1, 2), (rest, wordSize) => {
    const bytes = Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46, wordSize, 1]), rest]);
    if (bytes.length > 20) bytes.writeUInt16LE(X86_64, 18);
    const fault = faultOf(bytes);
    expect(fault === null || fault.startsWith("/sh ")).toBe(true);
  });

  fc.assert(property, { numRuns: 300 });
});
