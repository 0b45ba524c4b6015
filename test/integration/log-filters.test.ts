import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, OperationOutput, Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const PLAIN = { net: "none", env: { HOME: "/nonexistent" } } as const;
const DAY_MS = 86_400_000;

let own: TestWaypoint;
let web: Session;
const steps: Record<string, Checkpoint> = {};

/** One line of work that forks: clean, port, broken, and try beside broken. */
beforeAll(async () => {
  own = await openTestWaypoint();
  web = await own.waypoint.new({ name: "web", ...PLAIN });
  steps["clean"] = await taken(web, "mkdir -p /srv/shop/src; echo 1 > /srv/shop/src/[id].ts");
  steps["port"] = await taken(
    web,
    "echo 3000 > /etc/port; printf 'listening on \\033[32m30\\033[0m00\\n'",
    { intent: "Port fixed" },
  );
  const [fork] = await steps["port"].fork(1, { name: "try" });
  steps["broken"] = await taken(web, "echo 2 >> /srv/shop/src/[id].ts; echo 'Error: 100% full'");
  steps["try"] = await taken(fork as Session, "mv /srv/shop /srv/store");
  // The timeline waits for the newest stories only a moment.
  for (const step of Object.values(steps)) await step.show();
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

async function taken(session: Session, line: string, options = {}): Promise<Checkpoint> {
  await session.exec(line);
  return await session.checkpoint(options);
}

function names({ checkpoints }: OperationOutput<"log">): string[] {
  return checkpoints.map(({ id }) => {
    return Object.keys(steps).find((name) => steps[name]?.id === id) ?? "unknown";
  });
}

type Filter = Parameters<TestWaypoint["waypoint"]["log"]>[0];

async function found(filter: Filter): Promise<string[]> {
  return names(await own.waypoint.log(filter));
}

test("by path: the path, what lies below it, a pattern, and what a renamed directory took along", async () => {
  expect(await found({ path: "/etc/port" })).toEqual(["port"]);
  expect(await found({ path: "/etc" })).toEqual(["port"]);
  expect(await found({ path: "/srv/shop/src" })).toEqual(["clean", "broken", "try"]);
  expect(await found({ path: "/srv/store/src/[id].ts" })).toEqual(["try"]);
  expect(await found({ path: "[id].ts" })).toEqual(["clean", "broken"]);
  expect(await found({ path: "*/src/*.ts" })).toEqual(["clean", "broken"]);
  expect(await found({ path: "/etc/por" })).toEqual([]);
});

test("by text: in intents, commands and outputs, where colours part no words", async () => {
  expect(await found({ grep: "port FIXED" })).toEqual(["port"]);
  expect(await found({ grep: "mkdir" })).toEqual(["clean"]);
  expect(await found({ grep: "listening on 3000" })).toEqual(["port"]);
  expect(await found({ grep: "100% full" })).toEqual(["broken"]);
  expect(await found({ grep: "%" })).toEqual(["broken"]);
  expect(await found({ grep: "no such text" })).toEqual([]);
});

test("several filters have to fit together, and the newest are the last", async () => {
  expect(await found({ path: "/srv/shop", grep: "error" })).toEqual(["broken"]);
  expect(await found({ path: "/etc", grep: "error" })).toEqual([]);
  expect(await found({ limit: 2 })).toEqual(["broken", "try"]);
  expect(await found({ path: "/srv", limit: 1 })).toEqual(["try"]);
  expect(await found({ verified: "never" })).toEqual(["clean", "port", "broken", "try"]);
  expect(await found({ verified: "passing" })).toEqual([]);
  expect(names(await web.log({ path: "/srv" }))).toEqual(["clean", "broken"]);
});

test("by time: operations too, and both ends count", async () => {
  const at = steps["port"]?.info.createdAt ?? "";
  const tomorrow = new Date(Date.now() + DAY_MS).toISOString();

  const until = await own.waypoint.log({ until: at });

  expect(names(until)).toEqual(["clean", "port"]);
  expect(until.operations.map(({ kind }) => kind)).toEqual(["new"]);
  expect(await found({ since: at })).toEqual(["port", "broken", "try"]);
  expect(await found({ since: tomorrow })).toEqual([]);
});

test("what is left out is said, in the tree and in numbers", async () => {
  const log = await own.waypoint.log({ path: "/srv" });

  expect(log.elided).toEqual([
    { checkpoint: steps["broken"]?.id, ancestor: steps["clean"]?.id, count: 1 },
    { checkpoint: steps["try"]?.id, ancestor: steps["clean"]?.id, count: 1 },
  ]);
  expect([log.notShown, log.notSearched, log.operations]).toEqual([1, 0, []]);
  expect(log.sessions.map(({ name }) => name).toSorted()).toEqual(["try", "web"]);
});

test("without a filter nothing is left out, and each checkpoint tells what was meant", async () => {
  const log = await own.waypoint.log();

  expect([log.elided, log.notShown, log.notSearched]).toEqual([[], 0, 0]);
  const [clean, port] = log.checkpoints;
  expect(clean?.derivedIntent).toMatchObject({ source: "command" });
  expect(clean?.derivedIntent?.text).toMatch(/^mkdir -p/);
  expect([port?.intent, port?.derivedIntent]).toEqual(["Port fixed", null]);
});

test("the command line tells it in words, and nothing that fits is no failure", async () => {
  const shown = await runCommand(own.stateDir, ["log", "web", "--path", "/srv", "--since", "2h"]);
  const none = await runCommand(own.stateDir, ["log", "--grep", "nowhere"]);

  expect(shown.exitCode).toBe(0);
  expect(shown.stdout).toMatch(/^\d\d:\d\d {2}● .+ \$ mkdir -p .+\n.+… 1 not shown\n/);
  expect(shown.stdout).toMatch(/\n2 of 3 checkpoints\.\n$/);
  expect(none).toEqual({ stdout: "None of 4 checkpoints fits.\n", stderr: "", exitCode: 0 });
});

test("by verification: how the newest one ended, and anything that one has printed", async () => {
  const long = "seq 1 2000; echo needle-in-front; seq 1 2000; exit 1";
  await steps["clean"]?.verify(["sh", "-c", "true"]);
  await steps["port"]?.verify(["sh", "-c", long]);

  expect(await found({ verified: "passing" })).toEqual(["clean"]);
  expect(await found({ verified: "failing" })).toEqual(["port"]);
  expect(await found({ verified: "never" })).toEqual(["broken", "try"]);
  expect(await found({ grep: "needle-IN-front\n" })).toEqual(["port"]);
});

test("a filter that cannot be meant is refused before anything is looked for", async () => {
  const wrong = [
    ["--since", "soon"],
    ["--verified", "maybe"],
    ["--limit", "0"],
    ["--grep", ""],
    ["--path", "x".repeat(5000)],
  ];

  for (const options of wrong) {
    const { exitCode, stdout } = await runCommand(own.stateDir, ["log", ...options]);
    expect([options[0], exitCode, stdout]).toEqual([options[0], 2, ""]);
  }
});

test("stories that an older Waypoint noted are found again by the next daemon", async () => {
  const { DatabaseSync } = await import("node:sqlite");
  await killDaemon(await own.daemonPid());
  using catalog = new DatabaseSync(`${own.stateDir}/catalog.sqlite`);
  catalog.exec("UPDATE stories SET indexVersion = 0, intent = NULL");
  catalog.exec("DELETE FROM storyTouched; DELETE FROM storyTexts");
  catalog.close();

  const first = await own.waypoint.log({ path: "/etc/port" });
  for (const step of Object.values(steps)) await own.waypoint.show(step.id);

  expect(first.checkpoints.length + first.notSearched).toBeGreaterThanOrEqual(1);
  await expect.poll(() => found({ path: "/etc/port" }), { timeout: 15_000 }).toEqual(["port"]);
  await expect.poll(() => found({ grep: "listening" }), { timeout: 15_000 }).toEqual(["port"]);
});
