import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../support/command-line.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const run = promisify(execFile);
const BIN_DIR = fileURLToPath(new URL("../../bin", import.meta.url));

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  const session = await own.waypoint.new({ name: "work", net: "none" });
  await session.checkpoint({ name: "green", intent: "all tests: pass\nat last" });
});

afterAll(() => own[Symbol.asyncDispose]());

/** What bash offers for the last of these words, asked as at a Tab. */
async function tab(stateDir: string, ...words: string[]): Promise<string[]> {
  const script = `source <(waypoint completion bash); source <(waypoint completion bash)
    COMP_WORDS=(waypoint "$@"); COMP_CWORD=$#; COMP_LINE="waypoint $*"; COMP_POINT=\${#COMP_LINE}
    __waypoint_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const PATH = `${BIN_DIR}:${process.env["PATH"]}`;
  const env = { ...process.env, PATH, WAYPOINT_DIR: stateDir };
  const { stdout, stderr } = await run("bash", ["-c", script, "bash", ...words], { env });
  expect(stderr.replace(/.*compopt: .*\n/g, "")).toBe("");
  return stdout.split("\n").filter((line) => line !== "");
}

test("bash completes commands, sessions and checkpoints of the daemon that runs", async () => {
  expect(await tab(own.stateDir, "chec")).toEqual(["checkpoint"]);
  expect(await tab(own.stateDir, "attach", "")).toEqual(["work"]);
  expect(await tab(own.stateDir, "restore", "work", "gr")).toEqual(["green"]);
  expect(await tab(own.stateDir, "new", "--net", "n")).toEqual(["nat", "none"]);
});

test("what was typed is data: nothing of it runs, and quotes that are open harm nothing", async () => {
  const trace = path.join(own.stateDir, "ran");
  for (const typed of [
    `$(touch ${trace})`,
    `\`touch ${trace}\``,
    `;touch ${trace};`,
    "'half",
    '"',
  ]) {
    expect(await tab(own.stateDir, "attach", typed)).toEqual([]);
    await tab(own.stateDir, "restore", typed, "");
  }
  expect(existsSync(trace)).toBe(false);
});

test("without a daemon there are no names, and none is started", async () => {
  expect(await tab("/nowhere/waypoint", "attach", "")).toEqual([]);
  expect(await tab("/nowhere/waypoint", "att")).toEqual(["attach"]);
});

test("a shell that cannot be taught is refused with those that can", async () => {
  const unknown = await runCommand(own.stateDir, ["completion", "tcsh"]);

  expect(unknown.exitCode).toBe(2);
  expect(unknown.stderr).toContain("bash, zsh, fish");
});
