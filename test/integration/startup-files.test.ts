import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SHELL_PACKAGES, TestBases } from "../support/bases.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let home: string;
let own: TestWaypoint;
let bases: TestBases;
let base: string;

beforeAll(async () => {
  home = mkdtempSync(path.join(os.tmpdir(), "waypoint-home-"));
  for (const name of [".bashrc", ".zshenv", ".zshrc"]) {
    writeFileSync(path.join(home, name), `export READ="$READ ${name}"\n`);
  }
  await mkdir(path.join(home, ".config", "fish"), { recursive: true });
  await writeFile(
    path.join(home, ".config", "fish", "config.fish"),
    "set -x READ ' config.fish'\n",
  );
  own = await openTestWaypoint();
  bases = new TestBases();
  base = await bases.makeDebian("debian", SHELL_PACKAGES);
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
  bases?.[Symbol.dispose]();
  rmSync(home, { recursive: true, force: true });
});

/** Returns which start-up files the shell of a new session has read. */
async function readBy(shell: string, startupFiles: string): Promise<string> {
  const session = await own.waypoint.new({
    ...{ base, shell },
    binds: [{ source: home, target: "/srv", readOnly: true }],
    env: { HOME: "/srv", WAYPOINT_STARTUP_FILES: startupFiles },
  });
  const { stdout } = await session.exec("env");
  await session.remove({ force: true });
  expect(stdout).not.toContain("WAYPOINT_STARTUP_FILES");
  return /^READ= (.*)$/m.exec(stdout)?.[1] ?? "none";
}

test.each([
  ["bash", ".bashrc"],
  ["zsh", ".zshenv .zshrc"],
  ["fish", "config.fish"],
])("%s reads the start-up files of its user, or none where they are off", async (shell, files) => {
  expect(await readBy(shell, "on")).toBe(files);
  expect(await readBy(shell, "off")).toBe("none");
});
