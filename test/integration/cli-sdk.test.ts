import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const PACKAGE_ROOT = fileURLToPath(new URL("../..", import.meta.url));

let own: TestWaypoint;
let projectDir: string;

beforeAll(async () => {
  own = await openTestWaypoint();
  // A project of a user, in which the package is installed under its name.
  projectDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-sdk-"));
  writeFileSync(path.join(projectDir, "package.json"), "{}");
  const npm = ["install", "--offline", "--no-audit", "--no-fund", PACKAGE_ROOT];
  await promisify(execFile)("npm", npm, { cwd: projectDir });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
  rmSync(projectDir, { recursive: true });
});

function firstScript(document: string): string {
  const markdown = readFileSync(path.join(PACKAGE_ROOT, document), "utf8");
  const script = /```ts\n([\s\S]*?)```/.exec(markdown)?.[1];
  if (script === undefined) throw new Error(`${document} has no script`);
  return script;
}

test("the script of docs/sdk.md does what it says", async () => {
  const scriptPath = path.join(projectDir, "tour.mjs");
  writeFileSync(scriptPath, firstScript("docs/sdk.md"));

  const child = spawn(process.execPath, [scriptPath], {
    cwd: projectDir,
    env: { ...process.env, WAYPOINT_DIR: own.stateDir },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);

  expect(stderr).toBe("");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^\/srv\/app\n1\n/);
  expect(await own.waypoint.sessions()).toEqual([]);
});

test("exec takes input and hands output over as it comes", async () => {
  const session = await own.waypoint.new({ name: "io" });
  const seen: string[] = [];

  const result = await session.exec(["tr", "a-z", "A-Z"], {
    shell: "own",
    input: "text",
    onStdout: (bytes) => seen.push(Buffer.from(bytes).toString()),
  });

  expect(result).toMatchObject({ exitCode: 0, stdout: "TEXT", truncated: false });
  expect(seen.join("")).toBe("TEXT");
});

test("await using removes what new and fork have made, and leaves alone what was found", async () => {
  const { waypoint } = own;
  const names = async () => (await waypoint.sessions()).map(({ name }) => name);
  const kept = await waypoint.new({ name: "kept" });
  {
    await using session = await waypoint.new({ name: "short" });
    await using found = await waypoint.session("kept");
    await using forks = await (await session.checkpoint()).fork(2, { name: "try" });
    const before = await names();
    expect(before).toEqual(expect.arrayContaining(["short", found.name, forks[0].name]));
    await forks[1]?.remove({ force: true });
  }
  const after = await names();

  expect(after.filter((name) => /short|try/.test(name))).toEqual([]);
  expect(after).toContain("kept");
  await kept.remove({ force: true });
});

test("several programs that need the daemon at once share one", async () => {
  const { waypoint } = own;
  const pid = await own.daemonPid();
  process.kill(pid, "SIGKILL");
  await eventually(
    "the daemon's end",
    () => existsSync(`/proc/${pid}`),
    (isThere) => !isThere,
  );

  const answers = await Promise.all([1, 2, 3, 4].map(() => waypoint.sessions()));

  expect(answers.map((sessions) => sessions.map(({ name }) => name))).toEqual([
    ["io"],
    ["io"],
    ["io"],
    ["io"],
  ]);
});
