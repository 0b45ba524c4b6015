import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { hasInput } from "./unread-input.ts";

const directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-input-"));

afterAll(() => rmSync(directory, { recursive: true }));

test("a file has bytes to read until its end", async () => {
  const file = path.join(directory, "file");
  writeFileSync(file, "ab");
  const fd = openSync(file, "r");

  expect(await hasInput(fd)).toBe(true);
  readSync(fd, Buffer.alloc(2));
  expect(await hasInput(fd)).toBe(false);
  closeSync(fd);
});

test("a pipe has bytes only where some were written, and neither waits nor ends", async () => {
  const fifo = path.join(directory, "fifo");
  execFileSync("mkfifo", [fifo]);
  const fd = openSync(fifo, constants.O_RDWR);

  expect(await hasInput(fd)).toBe(false);
  writeSync(fd, "ab");
  expect(await hasInput(fd)).toBe(true);
  closeSync(fd);
});

test("a device and a closed descriptor have none", async () => {
  const fd = openSync("/dev/zero", "r");
  expect(await hasInput(fd)).toBe(false);
  closeSync(fd);
  expect(await hasInput(fd)).toBe(false);
});
