import { expect, test } from "vitest";
import type { OperationOutput } from "../../../shared/protocol/index.ts";
import { plain } from "../text/style.ts";
import { renderCheckpoint } from "./show.ts";

const SHOWN = {
  ...{ id: "bb", name: null, session: "s", sessionName: "web", parent: null, trigger: "manual" },
  ...{ createdAt: "2026-03-04T14:00:00.000Z", content: "full", stage: "durable" },
  ...{
    unchangedSince: null,
    pauseMs: 1,
    totalMs: 2,
    memoryBytes: 1,
    pauseBytes: null,
    verification: null,
  },
  ...{ task: null, agentState: null, decisions: [], effects: [], effectsCount: 0 },
  ...{ allow: ["api.example.com"] },
  contacts: { contacts: [], moreSentBytes: 0, moreReceivedBytes: 0, unknown: null },
  ...{ verifications: [], processes: [], binds: [], diskPath: "/state/store/checkpoints/bb" },
  ...{ host: { kernel: "6.1", arch: "x64", criu: "4.2" } },
  tags: [],
  limits: { memoryBytes: null, cpus: null, pids: null, diskBytes: null },
  changes: {
    ...{ summary: "", files: [], packages: [], processes: null, ports: null, connections: null },
    ...{ env: [], functions: [], cwd: null, virtualenv: null, git: [], unknown: {} },
    fileTotals: { added: 0, modified: 0, deleted: 0, renamed: 0, directories: 0 },
  },
  story: { intent: null, terminal: null, commands: [], unknown: {} },
} as unknown as OperationOutput<"show">;

test("the files of a checkpoint are told by the command that shows them, not by a hidden path", () => {
  const lines = renderCheckpoint(SHOWN, {
    nowMs: 0,
    isRemoved: false,
    isInMemory: false,
    isAll: false,
    paint: plain,
  });

  expect(lines.find((line) => line.startsWith("Files"))).toMatch(/^Files: +waypoint browse bb$/);
  expect(lines.join("\n")).not.toContain("/state");
  expect(lines.find((line) => line.startsWith("Reaches"))).toMatch(/ api\.example\.com$/);
});

test("what was copied in the pause is told beside what was copied earlier", () => {
  const about = { nowMs: 0, isRemoved: false, isInMemory: false, isAll: false, paint: plain };
  const memoryOf = (change: Partial<OperationOutput<"show">>) =>
    renderCheckpoint({ ...SHOWN, ...change }, about).find((line) => line.startsWith("Memory"));

  const memoryBytes = 2 * 1024 ** 3;

  expect(memoryOf({ memoryBytes })).toMatch(/^Memory: +2\.0 GiB$/);
  expect(memoryOf({ memoryBytes, pauseBytes: 1024 ** 3 / 2 })).toMatch(
    /^Memory: +2\.0 GiB: 512(\.0)? MiB copied in the pause, 1\.5 GiB earlier$/,
  );
});
