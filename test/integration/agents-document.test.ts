import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../support/command-line.ts";
import { otherNode } from "../support/other-nodes.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const project = mkdtempSync(path.join(os.tmpdir(), "my-agent-"));
let own: TestWaypoint;
let node: string;

beforeAll(async () => {
  own = await openTestWaypoint();
  node = await otherNode(20);
  const document = readFileSync(path.join(ROOT, "docs/agents.md"), "utf8");
  const [, program = ""] = /`agent\.mjs`[^\n]*\n\n```ts\n([\s\S]*?)```/.exec(document) ?? [];
  writeFileSync(path.join(project, "agent.mjs"), program);
  // As `npm install ../waypoint` leaves it.
  mkdirSync(path.join(project, "node_modules"));
  symlinkSync(ROOT, path.join(project, "node_modules/waypoint"));
});

afterAll(async () => {
  rmSync(project, { recursive: true });
  await own?.[Symbol.asyncDispose]();
});

/** Starts the agent of the document; `seen` is what it has said so far. */
function startAgent(): { agent: ChildProcess; seen: () => string; ended: Promise<unknown> } {
  const env = { ...process.env, WAYPOINT_DIR: own.stateDir };
  const agent = spawn(node, ["agent.mjs"], { cwd: project, env });
  let text = "";
  for (const stream of [agent.stdout, agent.stderr]) {
    stream.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
  }
  return { agent, seen: () => text, ended: once(agent, "close") };
}

test("the agent of docs/agents.md goes on after kill -9, and sends its report once", async () => {
  const first = startAgent();
  while (!first.seen().includes("load, try 1")) {
    await Promise.race([once(first.agent.stdout as NodeJS.EventEmitter, "data"), first.ended]);
    expect(first.agent.exitCode, first.seen()).toBeNull();
  }
  first.agent.kill("SIGKILL");
  await first.ended;

  const second = startAgent();
  await second.ended;
  expect(second.seen()).toMatch(/^load, try 2\nreport, try 1\n/);
  expect(second.seen().match(/wrote \/root\/\w+/g)).toEqual([
    "wrote /root/fetch",
    "wrote /root/load",
    "wrote /root/report",
  ]);
  const third = startAgent();
  await third.ended;
  expect(third.seen()).not.toContain("try");
  expect(readFileSync(path.join(project, "outbox.txt"), "utf8")).toBe("the report\n");

  const said = async (...words: string[]) => (await runCommand(own.stateDir, words)).stdout;
  expect(await said("task", "my-agent")).toMatch(/completed.*\n.*completed.*\n.*completed/);
  expect(await said("effects", "my-agent")).toMatch(/report-1 +done +send the report/);
  await said("rm", "my-agent", "--force");
});
