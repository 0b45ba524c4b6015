import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { runShellLine } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let session: Session;
/** A directory of this machine that the session sees too, as its base has it. */
let dir: string;
let number = 0;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

beforeEach(async () => {
  dir = mkdtempSync(path.join(os.tmpdir(), "waypoint-apply-"));
  number += 1;
  for (const name of ["a", "b", "c"]) write(`${name}.txt`, `${name} one\n2\n3\n4\n5\n6\n`);
  mkdirSync(at("sub"));
  write("sub/deep.txt", "deep\n");
  // A session begins from what was there a moment before it.
  await delay(50);
  session = await own.waypoint.new({ name: `web${number}`, net: "none" });
  return async () => {
    await callOperation(own.stateDir, "rm", { session: session.name, force: true });
    rmSync(dir, { recursive: true, force: true });
  };
});

const at = (name: string) => path.join(dir, name);
const write = (name: string, text: string) => writeFileSync(at(name), text);
const read = (name: string) => readFileSync(at(name), "utf8");
const inSession = (line: string) => session.exec(`cd ${dir} && { ${line}; }`);
const apply = (more: object = {}) =>
  callOperation(own.stateDir, "apply", {
    ...{ checkpoint: `${session.name}@`, paths: [{ path: dir }] },
    ...more,
  });
const temporaries = () =>
  readdirSync(dir, { recursive: true }).filter((name) => String(name).includes(".waypoint-"));

test("work comes out with modes, owners, links and directories, and can be taken back", async () => {
  const lines = [
    "sed -i s/one/ONE/ a.txt; echo more >> b.txt; rm c.txt; rm -r sub; mkdir -p new/er",
    "echo x > new/er/file; ln new/er/file new/hard; ln -s /etc/hostname link; mkfifo fifo",
    "chmod 750 new; chown 12:34 new/er/file; cp /bin/true setuid; chmod 4755 setuid; echo d > sub",
  ];
  await inSession(lines.join("; "));
  await session.checkpoint();

  const dry = await apply({ dryRun: true });
  expect(dry).toMatchObject({ isDone: false, totals: { conflicts: 0, deleted: 3 } });
  expect(read("a.txt")).toMatch(/^a one/);
  const done = await apply();

  expect(done.isDone).toBe(true);
  expect(read("a.txt")).toMatch(/^a ONE/);
  expect(read("b.txt")).toMatch(/more\n$/);
  expect(existsSync(at("c.txt"))).toBe(false);
  expect(read("sub")).toBe("d\n");
  expect(readlinkSync(at("link"))).toBe("/etc/hostname");
  expect(lstatSync(at("fifo")).isFIFO()).toBe(true);
  expect(statSync(at("new")).mode & 0o7777).toBe(0o750);
  const file = statSync(at("new/er/file"));
  expect([file.uid, file.gid, file.nlink]).toEqual([12, 34, 2]);
  expect(statSync(at("setuid")).mode & 0o7777).toBe(0o755);
  expect(done.notes.map(({ reason }) => reason).join()).toContain("set-user-id");
  expect(temporaries()).toEqual([]);

  const undone = await callOperation(own.stateDir, "apply.undo", {
    operation: done.operation ?? 0,
  });
  expect(undone.isDone).toBe(true);
  expect(readdirSync(dir).sort()).toEqual(["a.txt", "b.txt", "c.txt", "sub"]);
  expect(read("a.txt")).toMatch(/^a one/);
  expect(read("sub/deep.txt")).toBe("deep\n");
});

test("what a person has changed since is in conflict, and nothing is written", async () => {
  await inSession("sed -i s/one/ONE/ a.txt; sed -i s/one/ONE/ b.txt; rm c.txt; echo theirs > d");
  await session.checkpoint();
  await delay(50);
  write("b.txt", "mine\n");
  write("c.txt", "mine too\n");
  write("d", "mine as well\n");

  const dry = await apply({ dryRun: true });
  expect(dry.conflicts.map(({ path: each }) => path.basename(each))).toEqual([
    "b.txt",
    "c.txt",
    "d",
  ]);
  await expect(apply()).rejects.toMatchObject({
    code: "APPLY_CONFLICT",
    detail: { total: 3 },
  });
  expect(read("a.txt")).toMatch(/^a one/);
  expect([read("b.txt"), read("c.txt")]).toEqual(["mine\n", "mine too\n"]);

  const forced = await apply({ force: true });
  expect(forced.isDone).toBe(true);
  expect(read("b.txt")).toMatch(/^b ONE/);
  expect(existsSync(at("c.txt"))).toBe(false);
  await callOperation(own.stateDir, "apply.undo", {});
  expect([read("b.txt"), read("c.txt"), read("d")]).toEqual([
    "mine\n",
    "mine too\n",
    "mine as well\n",
  ]);
});

test("a person's change before the session's own is no conflict, with a checkpoint in between", async () => {
  await session.checkpoint();
  write("a.txt", "newer on the machine\n");
  await delay(50);
  await session.exec("true");
  await session.checkpoint();
  await inSession("echo and of the session >> a.txt");
  await session.checkpoint();

  await apply();

  expect(read("a.txt")).toBe("newer on the machine\nand of the session\n");
});

test("lines that a person has changed since are joined with those of the session", async () => {
  await inSession("sed -i s/one/ONE/ a.txt; echo last >> b.txt");
  const { id } = await session.checkpoint();
  await eventually(
    "the story",
    async () => (await own.waypoint.show(id)).changes.summary,
    (summary) => summary !== "",
  );
  write("a.txt", "a one\n2\n3\n4\n5\nmine\n");
  write("b.txt", "mine\nb one\n2\n3\n4\n5\n6\n");

  await apply();

  expect(read("a.txt")).toBe("a ONE\n2\n3\n4\n5\nmine\n");
  expect(read("b.txt")).toBe("mine\nb one\n2\n3\n4\n5\n6\nlast\n");
});

test("the next apply goes on from the last one, also after it was taken back", async () => {
  await inSession("sed -i s/one/ONE/ a.txt; echo n > new");
  await session.checkpoint();
  await apply();
  await inSession("sed -i s/ONE/TWO/ a.txt; echo more >> new");
  await session.checkpoint();
  await apply();
  expect([read("a.txt").slice(0, 5), read("new")]).toEqual(["a TWO", "n\nmore\n"]);

  await own.waypoint.undoApply();
  expect([read("a.txt").slice(0, 5), read("new")]).toEqual(["a ONE", "n\n"]);
  await apply();
  expect([read("a.txt").slice(0, 5), read("new")]).toEqual(["a TWO", "n\nmore\n"]);
});

test("an undo is refused where files were changed since, and forced if asked", async () => {
  await inSession("echo s > a.txt");
  await session.checkpoint();
  await apply();
  write("a.txt", "later\n");

  await expect(callOperation(own.stateDir, "apply.undo", {})).rejects.toMatchObject({
    code: "APPLY_CONFLICT",
  });
  expect(read("a.txt")).toBe("later\n");
  await callOperation(own.stateDir, "apply.undo", { force: true });
  expect(read("a.txt")).toMatch(/^a one/);
});

test("no link leads out of the target", async () => {
  await inSession("echo in > sub/deep.txt; echo new > sub/new");
  await session.checkpoint();
  const outside = mkdtempSync(path.join(os.tmpdir(), "waypoint-outside-"));
  writeFileSync(path.join(outside, "deep.txt"), "outside\n");
  rmSync(at("sub"), { recursive: true });
  symlinkSync(outside, at("sub"));

  await expect(apply()).rejects.toMatchObject({ code: "APPLY_CONFLICT" });
  expect(lstatSync(at("sub")).isSymbolicLink()).toBe(true);
  await apply({ force: true });

  expect(lstatSync(at("sub")).isDirectory()).toBe(true);
  expect(readdirSync(outside)).toEqual(["deep.txt"]);
  expect(readFileSync(path.join(outside, "deep.txt"), "utf8")).toBe("outside\n");
  rmSync(outside, { recursive: true });
});

test("into another directory, with the lines of both sides joined", async () => {
  await inSession("sed -i s/one/ONE/ a.txt; echo n > sub/n");
  await session.checkpoint();
  const other = mkdtempSync(path.join(os.tmpdir(), "waypoint-other-"));
  writeFileSync(path.join(other, "a.txt"), "a one\n2\n3\n4\n5\nsix\n");
  chmodSync(path.join(other, "a.txt"), 0o640);

  const done = await own.waypoint.apply(`${session.name}@`, { paths: [dir], to: other });

  expect(done.steps.find(({ isMerged }) => isMerged)?.path).toBe("/a.txt");
  expect(readFileSync(path.join(other, "a.txt"), "utf8")).toBe("a ONE\n2\n3\n4\n5\nsix\n");
  expect(statSync(path.join(other, "a.txt")).mode & 0o777).toBe(0o640);
  expect(readFileSync(path.join(other, "sub/n"), "utf8")).toBe("n\n");
  expect(read("a.txt")).toMatch(/^a one/);
  rmSync(other, { recursive: true });
});

test("the patch is one that git applies, binary files and links too", async () => {
  const lines = [
    "sed -i s/one/ONE/ a.txt; rm c.txt; ln -s a.txt link; head -c 9000 /dev/urandom > bin",
    "chmod 755 b.txt; echo sp > 'with blank'; echo ü > ümlaut; mv sub/deep.txt sub/moved.txt",
  ];
  await inSession(lines.join("; "));
  await session.checkpoint();
  const copy = mkdtempSync(path.join(os.tmpdir(), "waypoint-patch-"));
  const line = `cp -a ${dir}/. ${copy} && cd ${copy} && $W apply ${session.name}@ ${dir} --to ${dir} --patch | tee ${copy}.patch | git apply -`;

  const applied = await runShellLine(own.stateDir, line);
  expect(applied).toMatchObject({ exitCode: 0, stderr: "" });
  const headers = readFileSync(`${copy}.patch`, "utf8").match(/^diff --git .*$/gm) ?? [];
  expect(headers).toContain("diff --git a/c.txt b/c.txt");
  expect(headers).toContain('diff --git "a/\\303\\274mlaut" "b/\\303\\274mlaut"');
  await apply();

  const compared = await runShellLine(own.stateDir, `diff -r --no-dereference ${dir} ${copy}`);
  expect(compared).toMatchObject({ exitCode: 0, stdout: "" });
  expect(statSync(path.join(copy, "b.txt")).mode & 0o100).toBe(0o100);
  for (const made of [copy, `${copy}.patch`]) rmSync(made, { recursive: true });
});

test("two thousand conflicts are told in few lines, with their number", async () => {
  await inSession(
    "mkdir many; cd many; seq 2000 | xargs touch; echo s | tee $(seq 2000) > /dev/null",
  );
  await session.checkpoint();
  mkdirSync(at("many"));
  for (let name = 1; name <= 2_000; name += 1) write(`many/${name}`, "mine\n");

  const { stdout, stderr, exitCode } = await runShellLine(
    own.stateDir,
    `$W apply ${session.name}@ ${dir}; $W apply ${session.name}@ ${dir} --dry-run | tail -n 2`,
  );

  expect(stderr).toContain("and 1999 more");
  expect(stderr.length).toBeLessThan(2000);
  expect(stdout).toContain("1900 more in conflict");
  expect(exitCode).toBe(0);
  expect(read("many/1")).toBe("mine\n");
});

test.each([
  [
    "read-only",
    "mount -t tmpfs -o size=1m none %T; cp -a %D/. %T; mount -o remount,ro %T",
    "FILE_FAILED",
  ],
  [
    "full",
    "mount -t tmpfs -o size=1m none %T; cp -a %D/. %T; dd if=/dev/zero of=%T/fill bs=4k 2>/dev/null; :",
    "STORE_FULL",
  ],
])("a target that is %s is left as it was", async (_what, line, code) => {
  await inSession("sed -i s/one/ONE/ a.txt; rm c.txt; head -c 300000 /dev/urandom > b.txt");
  await session.checkpoint();
  const mounted = mkdtempSync(path.join(os.tmpdir(), "waypoint-mounted-"));
  await runShellLine(own.stateDir, line.replaceAll("%T", mounted).replaceAll("%D", dir));
  try {
    const request = apply({ to: { path: mounted } });
    await expect(request).rejects.toMatchObject({ code });
    expect(readFileSync(path.join(mounted, "a.txt"), "utf8")).toBe(read("a.txt"));
    expect(readdirSync(mounted).filter((name) => name.startsWith(".waypoint"))).toEqual([]);
    expect(existsSync(path.join(mounted, "c.txt"))).toBe(true);
  } finally {
    await runShellLine(own.stateDir, `umount ${mounted}`);
    rmSync(mounted, { recursive: true });
  }
});
