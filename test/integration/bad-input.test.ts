import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { failureOf } from "../support/failing-command.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { readWholeState, type WholeState } from "../support/whole-state.ts";

/** More checkpoints than letters that an id can begin with: two begin alike. */
const CHECKPOINT_COUNT = 33;
const LONG = "n".repeat(300);
const LONGEST = "n".repeat(64);

let own: TestWaypoint;
let web: Session;
let sharedPrefix: string;
let before: WholeState;
const basesDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-bases-"));

beforeAll(async () => {
  own = await openTestWaypoint();
  web = await own.waypoint.new({ name: "web" });
  await web.checkpoint({ name: "first", durable: true });
  const other = await own.waypoint.new({ name: "other", net: "none" });
  await other.checkpoint({ name: "others", durable: true });
  const letters: string[] = [];
  for (let count = 0; count < CHECKPOINT_COUNT; count += 1) {
    letters.push((await other.checkpoint({ filesOnly: true })).id.slice(0, 1));
  }
  sharedPrefix = letters.find((letter, index) => letters.indexOf(letter) !== index) ?? "";
  makeBases();
  before = await readWholeState(own);
});

afterAll(async () => {
  rmSync(basesDir, { recursive: true, force: true });
  await own[Symbol.asyncDispose]();
});

function makeBases(): void {
  mkdirSync(path.join(basesDir, "empty"));
  writeFileSync(path.join(basesDir, "file"), "");
  mkdirSync(path.join(basesDir, "no-shell", "bin"), { recursive: true });
  writeFileSync(path.join(basesDir, "no-shell", "bin", "bash"), "", { mode: 0o644 });
}

/** Command lines that cannot be done, with the code and the exit code that each gives. */
const REFUSED: readonly (readonly [string, number, ...string[]])[] = [
  ["SESSION_NOT_FOUND", 10, "checkpoint", "nosuch"],
  ["SESSION_NOT_FOUND", 10, "restore", "nosuch", "first"],
  ["SESSION_NOT_FOUND", 10, "undo", LONG],
  ["SESSION_NOT_FOUND", 10, "ps", "we"],
  ["SESSION_NOT_FOUND", 10, "show", "nosuch@"],
  ["SESSION_NOT_FOUND", 125, "exec", "nosuch", "--", "true"],
  ["CHECKPOINT_NOT_FOUND", 10, "show", "nosuch"],
  ["CHECKPOINT_NOT_FOUND", 10, "show", LONG],
  ["CHECKPOINT_NOT_FOUND", 10, "fork", "web@~1"],
  ["CHECKPOINT_NOT_FOUND", 10, "restore", "web", "webb"],
  ["NAME_IN_USE", 12, "new", "web"],
  ["NAME_IN_USE", 12, "fork", "first", "--name", "web"],
  ["NAME_IN_USE", 12, "checkpoint", "web", "--name", "first"],
  ["NAME_INVALID", 2, "new", "a b"],
  ["NAME_INVALID", 2, "new", "../../etc"],
  ["NAME_INVALID", 2, "new", "a\nb"],
  ["NAME_INVALID", 2, "new", "größe"],
  ["NAME_INVALID", 2, "new", ".hidden"],
  ["NAME_INVALID", 2, "new", LONG],
  ["NAME_INVALID", 2, "checkpoint", "web", "--name", "a/b"],
  ["NAME_INVALID", 2, "checkpoint", "web", "--name", LONG],
  ["NAME_INVALID", 2, "fork", "first", "--name", "a@b"],
  ["NAME_INVALID", 2, "fork", "first", "-n", "2", "--name", LONGEST],
  ["USAGE_INVALID", 2, "fork", "first", "-n", "0"],
  ["USAGE_INVALID", 2, "fork", "first", "-n", "257"],
  ["USAGE_INVALID", 2, "fork", "first", "-n", "many"],
  ["USAGE_INVALID", 2, "new", "x", "--user", "nobody-here"],
  ["USAGE_INVALID", 2, "new", "x", "--net", "wifi"],
  ["USAGE_INVALID", 2, "checkpoint"],
  ["USAGE_INVALID", 2, "checkpiont", "web"],
  ["BASE_INVALID", 2, "new", "x", "--base", path.join(basesDir, "nothing")],
  ["BASE_INVALID", 2, "new", "x", "--base", path.join(basesDir, "file")],
  ["BASE_INVALID", 2, "new", "x", "--base", path.join(basesDir, "empty")],
  ["BASE_INVALID", 2, "new", "x", "--base", path.join(basesDir, "no-shell")],
  ["CHECKPOINT_OF_OTHER_SESSION", 12, "restore", "web", "others"],
  ["NOTHING_TO_UNDO", 12, "undo", "web"],
  ["SESSION_WRONG_STATE", 12, "rm", "web"],
  ["USAGE_INVALID", 2, "new", "x", "--cwd", "/no/such/directory"],
  ["SANDBOX_FAILED", 21, "new", "x", "--user", "nobody", "--cwd", "/root"],
];

describe("the command line", () => {
  const rows = REFUSED.map(([code, exitCode, ...args]) => ({
    ...{ code, exitCode, args },
    line: args.map((arg) => JSON.stringify(arg).slice(0, 24)).join(" "),
  }));

  test.each(rows)("$code, exit code $exitCode: $line", async ({ code, exitCode, args }) => {
    const failure = await failureOf(own, args);

    expect({ code: failure.error.code, exitCode: failure.exitCode }).toEqual({ code, exitCode });
    expect(failure.error.message).toMatch(/^[A-Z"'/.a-z][^\n]{1,240}\.$/);
    expect(failure.error.hint).toMatch(/^[^\n]+\.$/);
    expect(await readWholeState(own)).toEqual(before);
  });

  test("a prefix that fits several is ambiguous and says which", async () => {
    const { error, exitCode } = await failureOf(own, ["show", sharedPrefix]);

    expect({ code: error.code, exitCode }).toEqual({ code: "REFERENCE_AMBIGUOUS", exitCode: 10 });
    const candidates = error.detail["candidates"] as string[];
    expect(candidates.toSorted()).toEqual(
      before.checkpoints.filter((id) => id.startsWith(sharedPrefix)),
    );
    expect(await readWholeState(own)).toEqual(before);
  });

  test("people get the sentence and the hint on lines of their own", async () => {
    const { stdout, stderr, exitCode } = await runCommand(own.stateDir, ["new", "web"]);

    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 12 });
    expect(stderr).toBe(
      "Error: There is a session named web already.\n" +
        "Hint:  Choose another name, or remove it with `waypoint rm web`.\n",
    );
  });
});

describe("the SDK", () => {
  test("gives the same codes", async () => {
    const { waypoint } = own;
    const attempts = [
      waypoint.session("nosuch"),
      waypoint.show("nosuch"),
      waypoint.fork("first", { name: "web" }),
      waypoint.new({ name: LONG }),
      waypoint.new({ base: "relative/path" }),
      web.restore("others"),
      web.undo(),
      web.remove(),
      web.checkpoint({ name: "first" }),
      web.exec("true", { shell: "live", cwd: "/" }),
      waypoint.new({ rows: 0 }),
    ];

    const failures = await Promise.allSettled(attempts);

    expect(failures.map((failure) => failure.status === "rejected" && failure.reason.code)).toEqual(
      [
        "SESSION_NOT_FOUND",
        "CHECKPOINT_NOT_FOUND",
        "NAME_IN_USE",
        "NAME_INVALID",
        "BASE_INVALID",
        "CHECKPOINT_OF_OTHER_SESSION",
        "NOTHING_TO_UNDO",
        "SESSION_WRONG_STATE",
        "NAME_IN_USE",
        "USAGE_INVALID",
        "USAGE_INVALID",
      ],
    );
    expect(await readWholeState(own)).toEqual(before);
  });

  test("two that want one name at the same moment: one gets it, nothing is left of the other", async () => {
    const outcomes = await Promise.allSettled([
      own.waypoint.new({ name: "wanted" }),
      own.waypoint.new({ name: "wanted" }),
      own.waypoint.fork("first", { name: "wanted" }),
    ]);

    const codes = outcomes.map((outcome) =>
      outcome.status === "rejected" ? outcome.reason.code : "made",
    );
    expect(codes.toSorted()).toEqual(["NAME_IN_USE", "NAME_IN_USE", "made"]);
    await (await own.waypoint.session("wanted")).remove({ force: true });
    expect(await readWholeState(own)).toEqual(before);
  });

  test("what was refused has disturbed nobody", async () => {
    const { stdout } = await web.exec("echo still here");

    expect(stdout).toBe("still here\n");
  });
});
