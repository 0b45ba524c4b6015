import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkBase } from "./check-base.ts";
import { resolveInside } from "./resolve-inside.ts";

let base: string;

beforeEach(() => {
  base = mkdtempSync(path.join(os.tmpdir(), "waypoint-base-"));
});

afterEach(() => rmSync(base, { recursive: true }));

function makeFile(insidePath: string, mode = 0o755): void {
  const file = path.join(base, insidePath);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, "");
  chmodSync(file, mode);
}

/** Makes a file that begins as a static program of this machine does. */
function makeProgram(insidePath: string): void {
  makeFile(insidePath);
  const head = Buffer.alloc(64);
  const fd = openSync(process.execPath, "r");
  readSync(fd, head);
  closeSync(fd);
  head.writeUInt16LE(0, 56); // e_phnum: it asks for no loader
  writeFileSync(path.join(base, insidePath), head);
}

function makeLink(insidePath: string, target: string): void {
  mkdirSync(path.dirname(path.join(base, insidePath)), { recursive: true });
  symlinkSync(target, path.join(base, insidePath));
}

describe("a path inside", () => {
  test("an absolute link begins at the base, not at the host's root", () => {
    makeFile("/opt/etc/passwd");
    makeLink("/etc", "/opt/etc");

    expect(resolveInside(base, "/etc/passwd")).toBe(path.join(base, "/opt/etc/passwd"));
  });

  test("no number of dots leads out", () => {
    makeFile("/etc/passwd");
    makeLink("/out", "../../../../../../../etc/passwd");

    expect(resolveInside(base, "/out")).toBe(path.join(base, "/etc/passwd"));
    expect(resolveInside(base, "/../../etc/passwd")).toBe(path.join(base, "/etc/passwd"));
  });

  test("a loop of links is nothing", () => {
    makeLink("/a", "b");
    makeLink("/b", "/a");
    makeLink("/self", "self");

    expect([resolveInside(base, "/a"), resolveInside(base, "/self/x")]).toEqual([null, null]);
  });

  test("a chain of links is followed to its end, and a dangling one is nothing", () => {
    makeFile("/usr/bin/bash");
    makeLink("/bin", "usr/bin");
    makeLink("/usr/bin/sh", "bash");
    makeLink("/dangling", "/no/such");

    expect(resolveInside(base, "/bin/sh")).toBe(path.join(base, "/usr/bin/bash"));
    expect(resolveInside(base, "/dangling")).toBeNull();
    expect(resolveInside(base, "/bin/nothing")).toBeNull();
  });
});

describe("a base", () => {
  test("has the shell that is best to talk to", () => {
    makeProgram("/bin/sh");
    expect(checkBase(base)).toEqual({ shellPath: "/bin/sh", dialect: "posix" });

    makeProgram("/bin/bash");
    expect(checkBase(base)).toEqual({ shellPath: "/bin/bash", dialect: "bash" });
  });

  test("is none with a shell that is no program", () => {
    makeFile("/bin/sh");

    expect(() => checkBase(base)).toThrow("No shell of the base");
  });

  test("is none with a shell that leads to the host's, or cannot be run", () => {
    makeLink("/bin/bash", "/usr/bin/env");
    makeFile("/bin/sh", 0o644);

    expect(() => checkBase(base)).toThrow(expect.objectContaining({ code: "BASE_INVALID" }));
  });

  test.each([
    ["relative", "is not an absolute path"],
    ["/no/such/base", "does not exist"],
    ["/dev/null", "is not a directory"],
    ["/dev/null/x", "does not exist"],
  ])("%s %s", (directory, why) => {
    expect(() => checkBase(directory)).toThrow(`The base ${directory} ${why}.`);
  });
});
