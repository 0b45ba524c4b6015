import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { failureOf } from "../support/failing-command.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { readWholeState } from "../support/whole-state.ts";
import { HOLDERS } from "./refused-holders.ts";

const LIMITS = readFileSync(new URL("../../docs/limits.md", import.meta.url), "utf8");

/** One that runs from a memfd is called after the memfd, or after its descriptor. */
const PROGRAM = /^(python3|memfd:program|3)$/;

let own: TestWaypoint;
/** What each of the sessions begins as; what this machine's user has his shells do is not in it. */
let begun: Checkpoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  const first = await own.waypoint.new();
  await first.exec("rm -f ~/.bashrc; cd /srv; export MARK=kept");
  begun = await first.checkpoint();
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

test.each(HOLDERS)("$what is named, and the session goes on", async (holder) => {
  const session = (await begun.fork())[0] as Session;
  const good = await session.checkpoint({ durable: true });
  await startHolder(session, holder.program);
  const before = await readWholeState(own);

  const { exitCode, error } = await failureOf(own, ["checkpoint", session.name]);

  expect({ code: error.code, exitCode }).toEqual({ code: "CRIU_DUMP_FAILED", exitCode: 21 });
  expect(error.message).toMatch(holder.message);
  expect(error.hint).toMatch(/\.$/);
  expect(LIMITS).toContain(asInLimits(error.message));
  expect(error.detail).toMatchObject({
    reason: expect.not.stringMatching(/^unknown$/),
    processName: expect.stringMatching(PROGRAM),
    pid: expect.any(Number),
    resource: holder.resource,
    // CRIU itself does not mind those that are found in its images.
    criuErrors: holder.isFoundAfterwards
      ? []
      : expect.arrayContaining([expect.stringContaining("Error")]),
  });
  expect(await readWholeState(own)).toEqual(before);
  expect((await session.exec("kill -0 %1 && echo $PWD $MARK")).stdout).toBe("/srv kept\n");
  const ticks = await countTicks(session);
  await eventually(
    "a program that goes on",
    () => countTicks(session),
    (count) => count > ticks,
  );

  const files = await session.checkpoint({ filesOnly: true });
  const [fork] = await files.fork();
  expect((await fork?.exec("ls /tmp/ready"))?.stdout).toBe("/tmp/ready\n");

  await expect(session.restore(good)).rejects.toMatchObject({
    code: "CRIU_DUMP_FAILED",
    hint: expect.stringContaining("--lose-processes"),
  });
  const still = await session.exec("kill -0 %1 && echo $MARK");
  expect(still.stdout).toBe("kept\n");
  const restored = await callOperation(own.stateDir, "restore", {
    session: session.id,
    checkpoint: good.id,
    loseProcesses: true,
  });
  expect(restored.undoContent).toBe("files");
  expect((await own.waypoint.show(restored.undo ?? "")).content).toBe("files");
  expect((await session.exec("echo $PWD $MARK; jobs")).stdout).toBe("/srv kept\n");
  await fork?.remove({ force: true });
  await session.remove({ force: true });
});

async function countTicks(session: Session): Promise<number> {
  return Number((await session.exec("wc -l < /tmp/ticks", { shell: "own" })).stdout);
}

/** Returns a message as docs/limits.md has it, without what differs each time. */
function asInLimits(message: string): string {
  return message
    .replace(/\d+ \([\w:]+\)/, "N (NAME)")
    .replace(/\d+ \([\w:]+\)/, "M (NAME)")
    .replace(/process \d+/, "process M")
    .replace(/proc\/\d+\/task\/\d+/, "proc/N/task/M");
}

/** Starts a program in the session's shell, and waits until it holds what it is to hold. */
async function startHolder(session: Session, program: string): Promise<void> {
  const script = `${program}
import time
open("/tmp/ready", "w").close()
while True:
    with open("/tmp/ticks", "a") as ticks: ticks.write("tick\\n")
    time.sleep(0.05)
`;
  const write = ["sh", "-c", "cat > /tmp/holder.py"];
  await session.exec(write, { shell: "own", input: script });
  await session.exec("python3 /tmp/holder.py &");
  await eventually(
    "a program that holds what CRIU refuses",
    async () => (await session.exec("cat /tmp/ready", { shell: "own" })).exitCode,
    (exitCode) => exitCode === 0,
  );
}
