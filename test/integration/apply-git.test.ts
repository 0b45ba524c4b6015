import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const AS_PERSON = "git -c user.name=p -c user.email=p@example.org";
const AS_SESSION = "git -c user.name=s -c user.email=s@example.org";
const TEXT = "one\n2\n3\n4\n5\nsix\n";

let own: TestWaypoint;
let session: Session;
/** A repository of this machine, which the session sees too. */
let dir: string;
let number = 0;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

beforeEach(async () => {
  dir = mkdtempSync(path.join(os.tmpdir(), "waypoint-apply-git-"));
  number += 1;
  for (const name of ["a", "b"]) writeFileSync(path.join(dir, name), TEXT);
  const first = `GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' ${AS_PERSON} commit -qm first`;
  onMachine(`git init -q -b main . && git add . && ${first}`);
  // A session begins from what was there a moment before it.
  await delay(50);
  session = await own.waypoint.new({ name: `git${number}`, net: "none" });
  return async () => {
    await callOperation(own.stateDir, "rm", { session: session.name, force: true });
    rmSync(dir, { recursive: true, force: true });
  };
});

const onMachine = (line: string, cwd = dir) =>
  execFileSync("sh", ["-ec", line], { cwd, encoding: "utf8" });
const inSession = (line: string) => session.exec(`cd ${dir} && { ${line}; }`);
const read = (name: string, where = dir) => readFileSync(path.join(where, name), "utf8");
const apply = (more: object = {}) =>
  callOperation(own.stateDir, "apply", {
    ...{ checkpoint: `${session.name}@`, paths: [{ path: dir }] },
    ...more,
  });

test("a commit of the very second in which a session begins is what both sides come from", async () => {
  // Right after a second has begun, so that both are in it; what git noted of it is seconds alone.
  await delay(1_000 - (Date.now() % 1_000));
  writeFileSync(path.join(dir, "c"), TEXT);
  onMachine(`git add c; ${AS_PERSON} commit -qm second`);
  await delay(50);
  const late = await own.waypoint.new({ name: `late${number}`, net: "none" });
  await late.exec(`cd ${dir} && sed -i s/one/ONE/ c`);
  onMachine(`sed -i s/six/SIX/ c; ${AS_PERSON} commit -qam outside`);
  await late.checkpoint();

  await apply({ checkpoint: `${late.name}@` });
  await callOperation(own.stateDir, "rm", { session: late.name, force: true });

  expect(read("c")).toBe(TEXT.replace("one", "ONE").replace("six", "SIX"));
});

test("a commit in the session and a person's edits and git status are joined, and git finds all in order", async () => {
  await inSession(`sed -i s/one/ONE/ a && ${AS_SESSION} commit -qam inside`);
  onMachine("sed -i s/six/SIX/ a; git status; git reflog expire --expire=now --all");
  await session.checkpoint();

  const done = await apply();

  expect(done).toMatchObject({ isDone: true, conflicts: [] });
  expect(read("a")).toBe("ONE\n2\n3\n4\n5\nSIX\n");
  expect(onMachine("git status --short; git log --format=%s; git fsck")).toBe(
    " M a\ninside\nfirst\n",
  );
  expect(onMachine("git diff")).toContain("\n-six\n+SIX\n");
});

test("what a person commits after the session has begun a file is no base of it", async () => {
  await inSession("sed -i s/one/ONE/ a; sed -i s/2/TWO/ b; git status");
  onMachine(`sed -i s/six/SIX/ a; sed -i s/2/ZWEI/ b; ${AS_PERSON} commit -qam meanwhile`);
  await session.checkpoint();

  await expect(apply()).rejects.toMatchObject({ code: "APPLY_CONFLICT", detail: { total: 1 } });
  expect([read("a"), read("b")]).toEqual([TEXT.replace("six", "SIX"), TEXT.replace("2", "ZWEI")]);
  await apply({ paths: [{ path: path.join(dir, "a") }, { path: path.join(dir, ".git") }] });

  expect(read("a")).toBe("ONE\n2\n3\n4\n5\nSIX\n");
  expect(onMachine("git status --short; git log --format=%s; git fsck")).toBe(
    " M a\nmeanwhile\nfirst\n",
  );
});

test("commits on both sides that lead apart are a conflict, and git's files stay", async () => {
  await inSession(`sed -i s/one/ONE/ a && ${AS_SESSION} commit -qam inside`);
  onMachine(`sed -i s/2/TWO/ b; ${AS_PERSON} commit -qam outside`);
  await session.checkpoint();

  const dry = await apply({ dryRun: true });

  const inConflict = dry.conflicts.map((each) => path.relative(dir, each.path));
  expect(inConflict).toEqual([".git/index", ".git/refs/heads/main"]);
  await expect(apply()).rejects.toMatchObject({
    code: "APPLY_CONFLICT",
    hint: expect.stringContaining("waypoint browse"),
  });
  expect(onMachine("git status --short; git log --format=%s")).toBe("outside\nfirst\n");
});

test("what both sides have staged on one commit is joined as files, and the stage stays here", async () => {
  await inSession("sed -i s/one/ONE/ a && git add a && echo new > n && git add n");
  onMachine("sed -i s/2/TWO/ b; git add b");
  await session.checkpoint();

  const done = await apply();

  expect(done).toMatchObject({ isDone: true, conflicts: [] });
  expect(done.notes.map(({ path: at }) => path.relative(dir, at))).toEqual([".git/index"]);
  expect(onMachine("git status --short; git fsck --no-dangling")).toBe(" M a\nM  b\n?? n\n");
});

test("a clone of the session is joined with another one by the commit that both come from", async () => {
  const clone = mkdtempSync(path.join(os.tmpdir(), "waypoint-clone-"));
  onMachine(`git clone -q ${dir} ${clone} && sed -i s/six/SIX/ a && chmod 640 a`, clone);
  writeFileSync(path.join(clone, "a"), TEXT.replace("six", "SIX"));
  const commit = `sed -i s/one/ONE/ a && chmod +x b && ${AS_SESSION} commit -qam inside`;
  onMachine("git config user.name p", clone);
  await session.exec(`git clone -q ${dir} /opt/c && cd /opt/c && ${commit} && echo new > n`);
  await session.checkpoint();

  const done = await apply({ paths: [{ path: "/opt/c" }], to: { path: clone } });

  expect(done).toMatchObject({ isDone: true, conflicts: [] });
  expect(read("a", clone)).toBe("ONE\n2\n3\n4\n5\nSIX\n");
  expect(onMachine("git status --short; git log --format=%s; git fsck", clone)).toBe(
    " M a\n?? n\ninside\nfirst\n",
  );
  expect(onMachine("stat -c %a a; test -x b && echo may run", clone)).toBe("640\nmay run\n");
  rmSync(clone, { recursive: true });
});

test("a copy without git is joined by what the session had first, if the other side has had that", async () => {
  const other = mkdtempSync(path.join(os.tmpdir(), "waypoint-copied-"));
  onMachine(`cp -a ${dir}/. ${other}`, other);
  await session.exec(`mkdir /opt/c && cp ${dir}/a ${dir}/b /opt/c/ && echo mine > /opt/c/own`);
  await session.checkpoint();
  await session.exec("cd /opt/c && sed -i s/one/ONE/ a b && echo more >> own");
  await session.checkpoint();
  writeFileSync(path.join(other, "a"), TEXT.replace("six", "SIX"));
  const to = { paths: [{ path: "/opt/c" }], to: { path: other } };

  expect(await apply(to)).toMatchObject({ isDone: true, conflicts: [] });
  expect(read("a", other)).toBe("ONE\n2\n3\n4\n5\nSIX\n");
  expect(read("b", other)).toBe(TEXT.replace("one", "ONE"));

  // Made by each on its own: what the session had first is nothing that both had.
  const apart = mkdtempSync(path.join(os.tmpdir(), "waypoint-apart-"));
  writeFileSync(path.join(apart, "own"), "theirs\n");
  const both = { paths: [{ path: "/opt/c/own" }], to: { path: apart } };
  await expect(apply(both)).rejects.toMatchObject({ code: "APPLY_CONFLICT" });
  for (const made of [other, apart]) rmSync(made, { recursive: true });
});

test("repositories that are damaged say nothing, and the files are in conflict as without them", async () => {
  const clone = mkdtempSync(path.join(os.tmpdir(), "waypoint-damaged-"));
  onMachine(`git clone -q ${dir} ${clone}; sed -i s/six/SIX/ a`, clone);
  const damage = "head -c 4096 /dev/urandom > .git/index; echo x > .git/HEAD";
  await session.exec(`git clone -q ${dir} /opt/c; cd /opt/c; sed -i s/one/ONE/ a; ${damage}`);
  await session.checkpoint();

  const dry = await apply({ paths: [{ path: "/opt/c" }], to: { path: clone }, dryRun: true });

  const inConflict = dry.conflicts.map((each) => each.path);
  expect(inConflict).toEqual(expect.arrayContaining(["/.git/HEAD", "/.git/index", "/a"]));
  expect(read("a", clone)).toBe(TEXT.replace("six", "SIX"));
  rmSync(clone, { recursive: true });
});
