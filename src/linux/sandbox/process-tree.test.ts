import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { killTree, listProcesses, startTicks, treeMemoryBytes } from "./process-tree.ts";

/** A name that a reader of /proc/PID/stat stumbles over. */
const ODD_NAME = "a) S (b";

let child: ChildProcess;
let pid: number;

beforeEach(async () => {
  const script = `exec -a '${ODD_NAME}' bash -c 'printf "%s" "$0" >/proc/$$/comm; echo; read' '${ODD_NAME}'`;
  child = spawn("bash", ["-c", script], { stdio: ["pipe", "pipe", "ignore"] });
  pid = child.pid ?? 0;
  await once(child.stdout as NodeJS.ReadableStream, "data");
});

afterEach(async () => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.stdin?.end();
  await once(child, "exit");
});

test("a process whose name looks like fields of its own is read right", () => {
  const [found] = listProcesses(pid);

  expect(found).toMatchObject({ hostPid: pid, pid, parentPid: 0, uid: process.getuid?.() });
  expect(found?.state).toMatch(/^[RS]$/);
  expect(found?.command).toContain(ODD_NAME);
  expect(found?.memoryBytes).toBeGreaterThan(100_000);
  expect(Math.abs(Date.now() - (found?.startedAtMs ?? 0))).toBeLessThan(60_000);
});

test("a tree has its root first and adds up", () => {
  const tree = listProcesses(process.pid);

  expect(tree[0]?.hostPid).toBe(process.pid);
  expect(tree.map(({ hostPid }) => hostPid)).toContain(pid);
  expect(tree.find(({ hostPid }) => hostPid === pid)?.parentPid).toBe(tree[0]?.pid);
  expect(treeMemoryBytes(pid)).toBeGreaterThan(100_000);
});

test("a process that has got the number of another one is left alone", async () => {
  await killTree(pid, (startTicks(pid) ?? 0) - 1);

  expect(startTicks(pid)).not.toBeNull();
});

test("the right one is ended, and what has ended is no failure", async () => {
  const ticks = startTicks(pid) ?? 0;
  const exited = once(child, "exit");

  await killTree(pid, ticks);
  await killTree(pid, ticks);

  expect(await exited).toEqual([null, "SIGKILL"]);
  expect(listProcesses(pid)).toEqual([]);
});
