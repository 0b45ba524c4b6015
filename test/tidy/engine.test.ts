import { expect, test } from "vitest";
import { importWithout } from "./import-without.ts";
import { filesBelow, readText } from "./repository.ts";

/** What only an adapter does. The engine's composition roots, beside its rooms, hand it over. */
const OF_ADAPTERS: readonly [what: string, RegExp][] = [
  ["starts a program", /child_process|\b(?:runProcess|startProgram)\b/],
  ["reads the environment", /process\.env\b|\benv\b[^;]*\} from "(?:node:)?process"/],
  ["reads what the kernel says", /["'`}]\/(?:proc|sys)\b/],
  ["calls native code", /\bkoffi\b/],
];
const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g;

/** Returns what a text of the engine does that is an adapter's work. */
function workOfAdapters(text: string): string[] {
  const code = text.replace(COMMENT, "");
  return OF_ADAPTERS.filter(([, pattern]) => pattern.test(code)).map(([what]) => what);
}

/** The files of the engine's rooms and of the operations. */
function files(): string[] {
  const inRoom = /^src\/(?:engine\/[^/]+|operations)\//;
  return filesBelow(["src/engine", "src/operations"], [".ts"]).filter(
    (file) => inRoom.test(file) && !file.endsWith(".test.ts"),
  );
}

test("the engine and the operations leave programs, environment and kernel to adapters", () => {
  const found = files().flatMap((file) =>
    workOfAdapters(readText(file) ?? "").map((what) => `${file} ${what}`),
  );

  expect(files().length).toBeGreaterThan(200);
  expect(found).toEqual([]);
});

test("the engine and the operations load without native code", async () => {
  await importWithout(["koffi"], files());
});

test("their composition root does not", async () => {
  await expect(importWithout(["koffi"], ["src/engine/open-engine.ts"])).rejects.toMatchObject({
    stderr: expect.stringContaining("not there: koffi"),
  });
});

test.each([
  ['import { spawn } from "node:child_process";', "starts a program"],
  ['const { stdout } = await runProcess(["true"]);', "starts a program"],
  ['const dir = process.env["WAYPOINT_DIR"];', "reads the environment"],
  ['import { env, pid } from "node:process";', "reads the environment"],
  ['readFileSync("/proc/meminfo", "utf8");', "reads what the kernel says"],
  ["openSync(`/sys/fs/cgroup`);", "reads what the kernel says"],
  ['openSync(root + "/proc/mounts");', "reads what the kernel says"],
  ['import koffi from "koffi";', "calls native code"],
])("%s is found", (text, what) => {
  expect(workOfAdapters(text)).toEqual([what]);
});

test("what a comment tells of is not found", () => {
  const text =
    '/** From `/proc` and koffi. */\n// process.env["A"]\nimport "../../formats/proc/index.ts";';

  expect(workOfAdapters(text)).toEqual([]);
});
