import { existsSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, OperationOutput } from "../../src/index.ts";
import { killDaemon } from "../support/crash-model.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

type Shown = OperationOutput<"show">;

/** The start-up files of this machine's user may write files of their own. */
const PLAIN = { net: "none", env: { HOME: "/nonexistent" } } as const;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

async function storyOf(checkpoint: Checkpoint): Promise<Shown["story"]> {
  return (await checkpoint.show()).story;
}

function commandsOf({ commands }: Shown["story"]) {
  return commands?.map(({ command, exitCode, output }) => [command, exitCode, output]);
}

test("each command since the parent is told with exit code, duration and output", async () => {
  const session = await own.waypoint.new({ name: "told", ...PLAIN });
  await session.exec("echo before");
  const first = await session.checkpoint();
  await session.exec("echo out; echo err >&2; exit 3", { shell: "own" });
  await session.exec(["printf", "%s", "two words"]);
  await session.exec("sleep 30", { timeoutMs: 100 });
  const second = await session.checkpoint();
  const third = await session.checkpoint();

  expect(commandsOf(await storyOf(first))).toEqual([["echo before", 0, "before\n"]]);
  const told = await storyOf(second);
  expect(told.commands?.map(({ command, exitCode }) => [command, exitCode])).toEqual([
    ["echo out; echo err >&2; exit 3", 3],
    ["printf %s 'two words'", 0],
    ["sleep 30", 124],
  ]);
  expect(told.commands?.[0]?.output.split("\n").sort()).toEqual(["", "err", "out"]);
  expect(told.commands?.[1]).toMatchObject({ by: "exec", output: "two words", outputBytes: 9 });
  expect(told.commands?.[2]?.durationMs).toBeGreaterThanOrEqual(100);
  expect((await storyOf(third)).commands).toEqual([]);
});

test("of a long output the end is kept, and its length is known", async () => {
  const session = await own.waypoint.new({ name: "long", ...PLAIN });
  await session.exec("seq 100000; printf '\\377\\033[31mend'", { shell: "own" });

  const [command] = (await storyOf(await session.checkpoint())).commands ?? [];

  expect(command?.outputBytes).toBe(588_895 + 9);
  expect(command?.output.length).toBeLessThanOrEqual(64 * 1024);
  expect(command?.output.endsWith("99999\n100000\n\ufffd\u001b[31mend")).toBe(true);
});

test("a command that runs is told as running, and with its end after the next checkpoint", async () => {
  const session = await own.waypoint.new({ name: "runs", ...PLAIN });
  const line = "echo begun; touch /srv/begun; until [ -e /srv/go ]; do sleep 0.05; done; exit 4";
  const begun = Promise.withResolvers<void>();
  const running = session.exec(line, { shell: "own", onStdout: () => begun.resolve() });
  await session.exec("until [ -e /srv/begun ]; do sleep 0.05; done");
  await begun.promise;
  const during = await session.checkpoint();
  await session.exec("touch /srv/go", { shell: "own" });
  await running;
  const after = await session.checkpoint();

  // Which of the two begins first is for the machine to say, and which ends first.
  expect(commandsOf(await storyOf(during))).toContainEqual([line, null, "begun\n"]);
  const { commands } = await storyOf(during);
  expect(commands?.find(({ command }) => command === line)?.durationMs).toBeNull();
  const ended = commandsOf(await storyOf(after))?.sort();
  expect(ended).toEqual([
    [line, 4, "begun\n"],
    ["touch /srv/go", 0, ""],
  ]);
});

test("after a restore and in a fork each branch has commands of its own", async () => {
  const session = await own.waypoint.new({ name: "branches", ...PLAIN });
  await session.exec("echo root");
  const root = await session.checkpoint();
  await session.exec("echo left");
  await session.restore(root);
  await session.exec("echo right");
  const right = await session.checkpoint();
  const [fork] = await root.fork();
  await fork?.exec("echo forked");
  const forked = await fork?.checkpoint();
  const { checkpoints } = await session.log();
  const left = checkpoints.find(({ trigger }) => trigger === "before-restore");

  expect(commandsOf(await storyOf(right))).toEqual([["echo right", 0, "right\n"]]);
  expect(forked === undefined ? null : commandsOf(await storyOf(forked))).toEqual([
    ["echo forked", 0, "forked\n"],
  ]);
  expect(commandsOf((await own.waypoint.show(left?.id ?? "")).story)).toEqual([
    ["echo left", 0, "left\n"],
  ]);
});

test("what an agent hands over tells more than its last command, and less than what was said", async () => {
  const session = await own.waypoint.new({ net: "none" });
  await session.exec("echo work");
  const handed = await session.checkpoint({ agentSaid: "Upgraded\n  the parser" });
  await session.exec("echo more");
  const both = await session.checkpoint({ agentSaid: "Done", intent: "as said" });

  const { intent } = await storyOf(handed);

  const { checkpoints } = await own.waypoint.log();

  expect(intent).toEqual({ text: "Upgraded the parser", source: "agent" });
  expect(checkpoints.find(({ id }) => id === handed.id)?.derivedIntent?.source).toBe("agent");
  expect((await storyOf(both)).intent?.source).toBe("given");
});

test("the intent is what was said, else what was run, else a commit that was made since", async () => {
  using shared = mkdtempDisposableSync(path.join(os.tmpdir(), "waypoint-meant-"));
  const binds = [{ source: shared.path, target: "/shared" }];
  const session = await own.waypoint.new({ name: "meant", ...PLAIN, binds });
  const nothing = await session.checkpoint();
  await session.exec("cd /srv && echo one\necho two");
  const command = await session.checkpoint();
  const said = await session.checkpoint({ intent: "as said" });
  // A program that runs already commits, and no command is noted for that.
  await session.exec(
    "git init -q repo; cd repo; (while [ ! -e /shared/go ]; do sleep 0.02; done; " +
      "git -c user.name=A -c user.email=a@b commit -q --allow-empty -m 'The \u001b[31mwork'; " +
      "touch /shared/done) > /dev/null 2>&1 &",
  );
  await session.checkpoint();
  writeFileSync(path.join(shared.path, "go"), "");
  await eventually("the commit", () => existsSync(path.join(shared.path, "done")), Boolean);
  const git = await session.checkpoint();
  const later = await session.checkpoint({ filesOnly: true });

  expect((await storyOf(nothing)).intent).toBeNull();
  expect((await storyOf(command)).intent).toEqual({
    text: "cd /srv && echo one echo two",
    ...{ source: "command", exitCode: 0 },
  });
  expect((await storyOf(said)).intent).toEqual({ text: "as said", source: "given" });
  expect((await storyOf(git)).intent).toEqual({ text: "The \u001b[31mwork", source: "git" });
  expect((await storyOf(later)).intent).toBeNull();
});

test("the screen is that of the capture, as text and with its colours", async () => {
  const session = await own.waypoint.new({ name: "screen", columns: 60, rows: 10, ...PLAIN });
  await session.exec("printf 'plain \\033[31mred\\033[0m\\n'");
  const first = await session.checkpoint();
  await session.exec("seq 100000");
  const scrolled = await session.checkpoint();
  const files = await session.checkpoint({ filesOnly: true });
  const { terminal } = await storyOf(first);

  expect(terminal).toMatchObject({ columns: 60, rows: 10 });
  expect(terminal?.lines).toHaveLength(10);
  expect(terminal?.lines.join("\n")).toContain("plain red");
  expect(terminal?.ansi).toContain("\u001b[31mred");
  expect((await storyOf(scrolled)).terminal?.lines.join("\n")).toContain("99999\n100000\n");
  expect((await storyOf(scrolled)).terminal?.ansi.length).toBeLessThan(1000);
  expect((await storyOf(files)).terminal).toBeNull();
  expect((await storyOf(files)).unknown["terminal"]).toContain("files alone");
});

test("what is shown while a checkpoint is taken is on exactly one of two screens", async () => {
  const session = await own.waypoint.new({ name: "ticking", columns: 40, rows: 8, ...PLAIN });
  const ticking = session.exec("for n in $(seq 400); do echo tick $n; sleep 0.01; done");
  const screens: number[] = [];
  for (let round = 0; round < 3; round++) {
    const { terminal } = await storyOf(await session.checkpoint());
    const ticks = [...(terminal?.lines.join("\n") ?? "").matchAll(/tick (\d+)/g)];
    screens.push(Number(ticks.at(-1)?.[1] ?? 0));
  }
  await ticking;

  expect(screens).toEqual([...screens].sort((one, other) => one - other));
  expect(screens.at(-1)).toBeGreaterThan(0);
});

test("what was run outlives the daemon", async () => {
  const session = await own.waypoint.new({ name: "outlives", ...PLAIN });
  await session.exec("echo kept");
  await killDaemon(await own.daemonPid());
  const again = await own.waypoint.session("outlives");

  expect(commandsOf(await storyOf(await again.checkpoint()))).toEqual([["echo kept", 0, "kept\n"]]);
});
