import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestBases } from "../support/bases.ts";
import { failureOf } from "../support/failing-command.ts";
import { sessionGroups } from "../support/session-groups.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { readWholeState } from "../support/whole-state.ts";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  await own.waypoint.new({ name: "other", pids: 100 });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

describe("limits that cannot be", () => {
  test("memory that is too little for the shell: says what would be enough", async () => {
    using bases = new TestBases();
    const base = await bases.makeDebian("hungry");
    mkdirSync(path.join(base, "etc"), { recursive: true });
    writeFileSync(path.join(base, "etc", "bash.bashrc"), "all=$(yes | head -c 20000000)\n");
    const before = await readWholeState(own);

    const words = ["new", "x", "--memory", "8M", "--base", base];
    const { error, exitCode } = await failureOf(own, words);

    expect({ code: error.code, exitCode }).toEqual({ code: "USAGE_INVALID", exitCode: 2 });
    expect(error.message).toBe("A session cannot start with 8 MiB of memory.");
    expect(error.hint).toMatch(/^Give it at least 16 MiB of memory;/);
    expect(await readWholeState(own)).toEqual(before);
    expect(sessionGroups(own.stateDir)).toHaveLength(1);
  });

  test.each([
    ["memory", "1M", /cannot start with 1 MiB of memory\.$/],
    ["pids", "2", /cannot start with 2 processes\.$/],
    ["cpus", "0.001", /cannot start with 0\.001 of a processor\.$/],
    ["memory", "much", /./],
    ["cpus", "-1", /./],
  ])("--%s %s: says so and leaves nothing", async (option, value, sentence) => {
    const before = await readWholeState(own);

    const { error, exitCode } = await failureOf(own, ["new", "x", `--${option}=${value}`]);

    expect({ code: error.code, exitCode }).toEqual({ code: "USAGE_INVALID", exitCode: 2 });
    expect(error.message).toMatch(sentence);
    expect(await readWholeState(own)).toEqual(before);
    expect(sessionGroups(own.stateDir)).toHaveLength(1);
  });
});

test("a session at its limit of processes says so to a command that needs a process more than it may have", async () => {
  const packed = await own.waypoint.new({ name: "packed", pids: 8, shell: "sh" });
  await packed.exec("for i in 1 2 3 4 5 6; do sleep 1000 & done");

  await expect(packed.exec("true", { shell: "own" })).rejects.toMatchObject({
    code: "PROCESSES_FULL",
    message: "Session packed can start no further process: it may have 8.",
    hint: "`waypoint ps packed` lists them; end some, then try again.",
  });

  expect((await packed.exec("kill %1; wait %1; echo builtins work")).stdout).toBe(
    "builtins work\n",
  );
  expect((await packed.exec("echo so does this", { shell: "own" })).stdout).toBe("so does this\n");
  await packed.remove({ force: true });
});
