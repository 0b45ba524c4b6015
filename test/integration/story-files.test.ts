import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, FileChange, OperationOutput, Session } from "../../src/index.ts";
import { TestBases } from "../support/bases.ts";
import { runInDaemon } from "../support/run-in-daemon.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

type Diff = OperationOutput<"diff">;

/** The start-up files of this machine's user may write files of their own. */
const PLAIN = { net: "none", env: { HOME: "/nonexistent" } } as const;

let own: TestWaypoint;
let session: Session;
let before: Checkpoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "told", ...PLAIN });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

/** Runs a line in the session, and returns what it changed, by checkpoint and by parent. */
async function changesOf(line: string): Promise<Diff> {
  before = await session.checkpoint();
  const { exitCode, stderr } = await session.exec(line);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const after = await session.checkpoint();
  const { changes } = await after.show();
  const { from, to, ...diff } = await own.waypoint.diff(before, after);

  expect({ from, to }).toEqual({ from: before.id, to: after.id });
  expect(diff).toEqual(changes);
  expect(changes.unknown["files"]).toBeUndefined();
  return { from, to, ...diff };
}

function brief({ files }: Pick<Diff, "files">) {
  return (files ?? []).map(({ change, path, from, what }) =>
    [change, ...(from === undefined ? [] : [from]), path, ...(what ?? [])].join(" "),
  );
}

function only({ files }: Pick<Diff, "files">): FileChange {
  const [file, ...others] = files ?? [];
  if (file === undefined || others.length > 0) throw new Error(JSON.stringify(files));
  return file;
}

test("the first checkpoint tells what the session did, and nothing of what Waypoint put there", async () => {
  const fresh = await own.waypoint.new({ name: "fresh", ...PLAIN });
  const empty = await fresh.checkpoint();
  await fresh.exec("echo own > /srv/own");
  const first = await (await own.waypoint.fork(empty))[0]?.checkpoint();
  const second = await fresh.checkpoint();

  expect(brief((await empty.show()).changes)).toEqual([]);
  expect((await empty.show()).changes.summary).toBe("");
  expect(brief((await first?.show())?.changes ?? { files: null })).toEqual([]);
  expect(brief((await second.show()).changes)).toEqual(["added /srv/own"]);
  expect((await second.show()).changes.summary).toBe("+ /srv/own");
});

test("what covered another state directory is no change of the session, also when that is gone", async () => {
  const other = await openTestWaypoint();
  const fresh = await own.waypoint.new({ name: "beside", ...PLAIN });
  const covered = await fresh.exec(`stat -c %n ${other.stateDir}; ls -A ${other.stateDir}`);
  await other[Symbol.asyncDispose]();
  await fresh.exec("echo own > /srv/own");

  expect(covered.stdout).toBe(`${other.stateDir}\n`);
  expect(brief((await (await fresh.checkpoint()).show()).changes)).toEqual(["added /srv/own"]);
});

test("a file of the base is modified the first time it is written to, and deleted with its size", async () => {
  const { size } = (await session.exec("stat -c '{\"size\":%s}' /etc/shells /etc/profile")).stdout
    .split("\n")
    .map((line) => (line === "" ? { size: 0 } : JSON.parse(line)))[0];

  const told = await changesOf("echo more >> /etc/shells; rm /etc/profile; chmod 600 /etc/motd");

  expect(brief(told)).toEqual([
    "modified /etc/motd mode",
    "deleted /etc/profile",
    "modified /etc/shells content",
  ]);
  expect(told.files?.[0]).toMatchObject({ modeBefore: "0644", modeAfter: "0600" });
  expect(told.files?.[2]).toMatchObject({ sizeBefore: size, sizeAfter: size + 5 });
  expect(told.summary).toBe("− /etc/profile, ~ /etc/motd, ~ /etc/shells");
});

test("what was only opened, or written again as it was, is not modified", async () => {
  await session.exec("seq 100000 > /srv/numbers");

  const told = await changesOf(
    "seq 100000 > /srv/numbers; cp -p /etc/group /srv/group && cat /srv/group > /etc/group; " +
      "rm /srv/group; touch /etc/hostname; : >> /etc/shells; mkdir /srv/d; rmdir /srv/d",
  );

  expect(brief(told)).toEqual([]);
});

test("owner, attributes, link targets and changes of type are told apart", async () => {
  await session.exec(
    "cd /srv; touch owned; ln -s one link; echo x > kind; mkdir dir; touch dir/in",
  );

  const told = await changesOf(
    "chown 1:2 owned; ln -sfn two link; rm kind; mkfifo kind; rm -r dir; echo file > dir; cd /",
  );

  expect(brief(told)).toEqual([
    "deleted /srv/dir",
    "added /srv/dir",
    "deleted /srv/dir/in",
    "modified /srv/kind type",
    "modified /srv/link target",
    "modified /srv/owned owner",
  ]);
  expect(told.files?.at(-1)).toMatchObject({ ownerBefore: "0:0", ownerAfter: "1:2" });
  expect(told.files?.[3]).toMatchObject({ typeBefore: "file", type: "fifo" });
});

test("a change of a file with several names is told at each of them", async () => {
  await session.exec(
    "mkdir /srv/names; cd /srv/names; echo x > one; ln one two; ln one /srv/third-name; cd /",
  );
  await session.exec("ln /etc/protocols /srv/of-the-base");

  const told = await changesOf("echo more >> /srv/names/two; chmod 640 /srv/of-the-base");

  expect(brief(told)).toEqual([
    "modified /etc/protocols mode",
    "modified /srv/names/one content",
    "modified /srv/names/two content",
    "modified /srv/of-the-base mode",
    "modified /srv/third-name content",
  ]);
});

test("a renamed directory of 1,000 files is one entry, and what changed in it has its own", async () => {
  await session.exec("mkdir -p /srv/thousand && cd /srv/thousand && seq 1000 | xargs touch; cd /");

  const renamed = await changesOf("mv /srv/thousand /srv/renamed");
  const changed = await changesOf(
    "mv /srv/renamed /srv/again; echo 1 > /srv/again/1; rm /srv/again/2; mv /srv/again/3 /srv/three",
  );

  expect(brief(renamed)).toEqual(["renamed /srv/thousand /srv/renamed"]);
  expect(renamed.summary).toBe("thousand → renamed");
  expect(brief(changed)).toEqual([
    "renamed /srv/renamed /srv/again",
    "modified /srv/again/1 content",
    "deleted /srv/renamed/2",
    "renamed /srv/renamed/3 /srv/three",
  ]);
});

test("a directory of the base that was moved by copying is one entry too", async () => {
  const told = await changesOf("mkdir /srv/new; mv /usr/share/base-files /srv/new/moved");

  expect(brief(told)).toEqual(["added /srv/new", "renamed /usr/share/base-files /srv/new/moved"]);
});

test("a file of 1 GiB that was appended to is modified, and is not read for that", async () => {
  await session.exec("truncate -s 1G /srv/large && echo data >> /srv/large");
  const readBytes = async () =>
    Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${await own.daemonPid()}/io`, "utf8"))?.[1]);
  const readBefore = await readBytes();

  const told = await changesOf("echo more >> /srv/large");

  expect(only(told)).toMatchObject({ path: "/srv/large", change: "modified", what: ["content"] });
  expect(only(told)).toMatchObject({ sizeBefore: 1024 ** 3 + 5, sizeAfter: 1024 ** 3 + 10 });
  expect((await readBytes()) - readBefore).toBeLessThan(100 * 1024 ** 2);
});

test("names that are no text are kept exactly", async () => {
  const told = await changesOf("touch \"$(printf '/srv/\\377\\n\\033[31m')\"");

  const { path, pathBase64 } = only(told);
  expect(path).toBe("/srv/\ufffd\n\u001b[31m");
  expect(Buffer.from(pathBase64 ?? "", "base64").toString("latin1")).toBe("/srv/\xff\n\x1b[31m");
});

test("noise is grouped, and left out of the line alone", async () => {
  const told = await changesOf(
    "mkdir -p /srv/app/node_modules/x /srv/app/.git && cd /srv/app && touch index.js .git/HEAD && " +
      "cd node_modules/x && seq 40 | xargs touch; cd /",
  );

  expect(brief(told)).toEqual([
    "added /srv/app",
    "added /srv/app/.git",
    "added /srv/app/index.js",
    "added /srv/app/node_modules",
  ]);
  expect(told.files?.[3]).toMatchObject({ group: "node_modules", files: 40, type: "directory" });
  expect(told.summary).toBe("+ /srv/app/index.js");

  const expanded = await own.waypoint.diff(told.from, told.to, { expand: true });
  const below = await own.waypoint.diff(told.from, told.to, {
    expand: true,
    path: "/srv/app/node_modules/x/7",
  });

  expect(expanded.files).toHaveLength(46);
  expect(brief(below)).toEqual(["added /srv/app/node_modules/x/7"]);
});

test("a deleted file that is open is not told under the name that CRIU keeps it by", async () => {
  const told = await changesOf("exec 9<>/srv/open; ln /srv/open /srv/kept; rm /srv/open");
  await session.exec("exec 9>&-; rm /srv/kept");

  expect(brief(told)).toEqual(["added /srv/kept"]);
});

test("a live session is compared as it is now, and nothing of that is left", async () => {
  const at = await session.checkpoint();
  await session.exec("echo one > /srv/live");

  const forward = await own.waypoint.diff(at, session, { patch: true });
  const back = await own.waypoint.diff("told", at.id);

  expect(only(forward)).toMatchObject({ change: "added", path: "/srv/live" });
  expect(only(forward).patch).toBe("--- /dev/null\n+++ b/srv/live\n@@ -0,0 +1 @@\n+one\n");
  expect(brief(back)).toEqual(["deleted /srv/live"]);
  expect(await runInDaemon(own, `ls ${own.stateDir}/store/scratch`)).toBe("");
});

test("texts are compared line by line; binary and large ones are named", async () => {
  const at = await session.checkpoint();
  await session.exec("printf 'a\\0b' > /srv/binary; seq 1000000 > /srv/long; seq 3 > /srv/text");

  const { files } = await own.waypoint.diff(at, session, { patch: true });

  expect(files?.map(({ path, noPatch }) => [path, noPatch])).toEqual([
    ["/srv/binary", "binary"],
    ["/srv/long", "too-large"],
    ["/srv/text", undefined],
  ]);
});

test("files on different bases are unknown, and the answer says why", async () => {
  using bases = new TestBases();
  const base = await bases.makeBusybox("other");
  const elsewhere = await own.waypoint.new({ base, net: "none" });

  const { files, unknown } = await own.waypoint.diff(session, elsewhere);
  await elsewhere.remove({ force: true });

  expect(files).toBeNull();
  expect(unknown["files"]).toBe(`Their files stand on different bases, / and ${base}.`);
});

test("a story that was lost or damaged is built again, with the same changes", async () => {
  const told = await changesOf("echo again > /srv/again-told");
  const storyPath = `${own.stateDir}/store/checkpoints/${told.to}/story.json`;

  for (const damage of [`rm ${storyPath}`, `truncate -s 20 ${storyPath}`]) {
    await runInDaemon(own, damage);

    expect(brief((await own.waypoint.show(told.to)).changes)).toEqual(["added /srv/again-told"]);
  }
  expect(await runInDaemon(own, `tail -c 3 ${storyPath}`)).toBe("}}\n");
});

test("a checkpoint can be removed while it is compared", async () => {
  const doomed = await own.waypoint.new({ name: "doomed", net: "none" });
  await doomed.exec("mkdir /srv/many; cd /srv/many; seq 20000 | xargs touch");
  const taken = await doomed.checkpoint();
  const reading = Array.from({ length: 4 }, () => own.waypoint.diff(before, taken));

  await doomed.remove({ force: true });
  const outcomes = await Promise.allSettled(reading);

  expect(outcomes).toHaveLength(4);
  await eventually(
    "nothing is left of it",
    () => runInDaemon(own, `ls ${own.stateDir}/store/checkpoints ${own.stateDir}/store/scratch`),
    (listed) => !listed.includes(taken.id),
  );
});
