import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web", net: "none", env: { HOME: "/none" } });
  await session.exec("mkdir -p /srv/d && cd /srv && echo a > one; echo a > two; echo a > three");
  await session.exec("echo a > d/gone; echo a > gone; echo a > same");
  await session.checkpoint({ name: "a" });
  await session.exec("echo b > one; echo b > two; rm -r d gone; mkdir fresh; echo b > fresh/in");
  await session.exec("echo b > added; echo b > same; mv three moved");
  await session.checkpoint({ name: "b" });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await session.restore("b");
  // What comes later: `two` again, `same` as it was in a, and something of its own.
  await session.exec("echo later > two; echo a > same; echo later > own; (sleep 100004 &)");
});

async function seen(line: string): Promise<string> {
  return (await session.exec(line, { shell: "own", cwd: "/srv" })).stdout;
}

test("what changed between two checkpoints is taken back, and what came later is kept", async () => {
  const plan = await session.planRevert("a", "b");
  const reverted = await session.revert("a", "b", { check: true });
  // Nothing has run meanwhile, but what it captures is new all the same.
  const after = await session.checkpoint();

  const planned = plan.files.map(({ path, change }) => `${change} ${path}`);
  expect(planned).toEqual([
    "deleted /srv/added",
    "added /srv/d",
    "added /srv/d/gone",
    "deleted /srv/fresh",
    "deleted /srv/fresh/in",
    "added /srv/gone",
    "deleted /srv/moved",
    "modified /srv/one",
    "added /srv/three",
  ]);
  expect(plan.conflicts).toEqual([{ path: "/srv/two", between: "modified", since: "modified" }]);
  expect(reverted).toMatchObject({
    conflicts: plan.conflicts,
    files: { put: 5, removed: 4, leftOutCount: 0 },
    check: { files: { count: 0 } },
  });
  expect(await seen("cat one two three same own d/gone gone")).toBe(
    "a\nlater\na\na\nlater\na\na\n",
  );
  expect(await seen("ls")).toBe("d\ngone\none\nown\nsame\nthree\ntwo\n");
  expect((await session.ps()).map(({ command }) => command)).toContain("sleep 100004");

  expect(after.info).toMatchObject({ parent: reverted.undo, unchangedSince: null });
  const { files } = await own.waypoint.diff(reverted.undo ?? "", after);
  expect((files ?? []).map(({ path }) => path).sort()).toEqual([
    ...["/srv/added", "/srv/d", "/srv/d/gone", "/srv/fresh", "/srv/fresh/in", "/srv/gone"],
    ...["/srv/moved", "/srv/one", "/srv/three"],
  ]);
  await session.undo();
  expect(await seen("cat one two moved fresh/in; ls d")).toBe("b\nlater\na\nb\n");
});

test("what a revert changed is told as its own, not as that of who looked at it", async () => {
  const before = await session.checkpoint();
  await session.revert("a", "b");
  await session.exec("cat one", { shell: "own", cwd: "/srv" });
  const looked = await session.checkpoint();
  await session.exec("echo mine > /srv/one");
  const written = await session.checkpoint();

  const [a, b] = await Promise.all(["a", "b"].map((name) => own.waypoint.show(name)));
  expect(before.info.id).not.toBe(looked.id);
  expect((await own.waypoint.show(looked)).derivedIntent).toEqual({
    ...{ text: `revert of ${a?.id}..${b?.id}`, source: "operation" },
  });
  const log = await runCommand(own.stateDir, ["log", "web"]);
  expect(log.stdout).toContain(`waypoint: revert of ${a?.id}..${b?.id}`);
  expect((await own.waypoint.show(written)).derivedIntent).toMatchObject({
    ...{ text: "echo mine > /srv/one", source: "command" },
  });
});

test("a conflict is put back only by force, and undo brings what came later again", async () => {
  const { conflicts, conflictsCount } = await session.revert("a", "b", { force: true });

  expect({ conflicts, conflictsCount }).toEqual({ conflicts: [], conflictsCount: 0 });
  expect(await seen("cat two same own")).toBe("a\na\nlater\n");
  await session.undo();
  expect(await seen("cat two same own")).toBe("later\na\nlater\n");
});

test("people see files and conflicts; a conflict is exit code 3", async () => {
  const revert = ["revert", "web", "a", "b", "/srv/one", "/srv/two"];
  const dry = await runCommand(own.stateDir, [...revert, "--dry-run"]);
  const before = await seen("cat one two");
  const done = await runCommand(own.stateDir, revert);
  const again = await runCommand(own.stateDir, ["revert", "web", "a", "b", "/srv/one"]);

  expect(dry.exitCode).toBe(3);
  expect(dry.stdout).toMatch(/^~ \/srv\/one$/m);
  expect(dry.stdout).toMatch(/^Conflict: \/srv\/two was modified then and modified since;/m);
  expect(before).toBe("b\nlater\n");
  expect(done.exitCode).toBe(3);
  expect(done.stdout).toMatch(/^1 put back, 0 removed$/m);
  expect(await seen("cat one two")).toBe("a\nlater\n");
  expect(again).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/nothing was changed/),
  });
});

test("of a text only the lines of then go back, and lines changed since stay", async () => {
  const files = "cd /srv && seq 20 > text && printf '\\0a' > binary && seq 20 > deleted";
  await session.exec(`${files}; chmod 640 text`);
  const from = await session.checkpoint();
  await session.exec("sed -i 's/^2$/two/' text; chmod 755 text; printf '\\0b' > binary");
  await session.exec("sed -i 's/^9$/nine/' deleted");
  const to = await session.checkpoint();
  const note = "import os; os.setxattr('text', 'user.note', b'kept')";
  await session.exec(`sed -i 's/^18$/later/' text; python3 -c "${note}"`);
  await session.exec("printf '\\0c' > binary; rm deleted");
  const paths = ["/srv/text", "/srv/binary", "/srv/deleted"];

  const plan = await session.planRevert(from, to, { paths });
  const undone = ["revert", "web", from.id, to.id, ...paths];
  const dry = await runCommand(own.stateDir, [...undone, "--dry-run"]);
  const reverted = await session.revert(from, to, { paths, check: true });

  expect(plan.files).toEqual([{ path: "/srv/text", type: "file", change: "modified" }]);
  expect(plan.joined).toEqual(["/srv/text"]);
  expect(plan.conflicts.map(({ path, since }) => [path, since])).toEqual([
    ["/srv/binary", "modified"],
    ["/srv/deleted", "deleted"],
  ]);
  expect(dry.stdout).toMatch(/^~ \/srv\/text {2}\(lines changed since stay\)$/m);
  expect(reverted).toMatchObject({
    ...{ joined: plan.joined, joinedCount: 1, conflicts: plan.conflicts },
    ...{ files: { put: 1, removed: 0 }, check: { files: { count: 0 } } },
  });
  expect(await seen("sed -n '2p;18p' text; stat -c %a text")).toBe("2\nlater\n640\n");
  expect(await seen(`python3 -c "import os; print(os.getxattr('text', 'user.note'))"`)).toMatch(
    /kept/,
  );
  const again = await session.revert(from, to, { paths: ["/srv/text"] });
  expect(again.joinedCount).toBe(0);
  await session.undo();
  expect(await seen("sed -n '2p;18p' text; stat -c %a text")).toBe("two\nlater\n755\n");
});

test("a text with two names stays one file", async () => {
  await session.exec("cd /srv && seq 9 > name && ln name second");
  const from = await session.checkpoint();
  await session.exec("printf '1\\ntwo\\n' > head && { cat head; seq 3 9; } > name");
  const to = await session.checkpoint();
  await session.exec("echo later >> name");

  const { joined } = await session.revert(from, to, { paths: ["/srv/name", "/srv/second"] });

  expect(joined).toEqual(["/srv/name", "/srv/second"]);
  expect(await seen("tr '\\n' ' ' < second; stat -c %h name")).toBe("1 2 3 4 5 6 7 8 9 later 2\n");
});

test("a checkpoint and itself, or a path that never was, are refused", async () => {
  await expect(session.revert("a", "a")).rejects.toMatchObject({ code: "USAGE_INVALID" });
  const nothing = session.revert("a", "b", { paths: ["/srv/never"] });
  await expect(nothing).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
});

test("op log lists what was done and how to take it back; an older one can be, too", async () => {
  await session.revert("a", "b", { paths: ["/srv/one"] });
  const number = (await session.operations()).at(-1)?.id ?? 0;
  await session.restore("b", { paths: ["/srv/two"] });
  const list = await runCommand(own.stateDir, ["op", "log", "web"]);

  expect(list.stdout).toMatch(
    new RegExp(
      `^ *${number} .* reverted .*, at /srv/one: 1 put back, 0 removed .* waypoint undo web ${number}$`,
      "m",
    ),
  );
  expect(list.stdout).toMatch(/ started +- +a session that was started is removed/);
  expect(await seen("cat one two")).toBe("a\nb\n");
  const undone = await runCommand(own.stateDir, ["undo", "web", String(number)]);
  expect(undone.exitCode).toBe(0);
  expect(await seen("cat one two")).toBe("b\nb\n");
  const operations = await session.operations();
  expect(operations.find(({ id }) => id === number)).toMatchObject({
    undoneBy: operations.at(-1)?.id,
  });
  expect(operations.at(-1)).toMatchObject({ kind: "undo", detail: { undoes: number } });
});

test("an older restore is taken back as a whole", async () => {
  await session.restore("a");
  const number = (await session.operations()).at(-1)?.id ?? 0;
  await session.exec("echo other > one");
  await session.undo({ operation: number });

  expect(await seen("cat one own")).toBe("b\nlater\n");
  expect((await session.ps()).map(({ command }) => command)).toContain("sleep 100004");
});

test.each([["1"], ["999999"]])("operation %s cannot be undone", async (number) => {
  const before = await seen("cat one two");
  const { exitCode, stderr } = await runCommand(own.stateDir, ["undo", "web", number]);

  expect(exitCode).toBe(12);
  expect(stderr).toContain("op log web");
  expect(await seen("cat one two")).toBe(before);
});
