import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { TestBases } from "../support/bases.ts";
import { runCommand } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const SERVER = "/usr/bin/python3 -m http.server 8123 --bind 127.0.0.1 --directory /srv/app";

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web", net: "none", env: { HOME: "/none" } });
  const lines = [
    "mkdir -p /srv/app/inner /srv/data && cd /srv && echo one > app/index.html",
    "echo deep > app/inner/deep && chmod 750 app/inner && echo linked > app/x && ln app/x app/y",
    "ln -s index.html app/link && echo data > data/rows && mkdir app/turns && echo in > app/turns/in",
    `(${SERVER} > /srv/data/served 2>&1 &)`,
  ];
  await session.exec(lines.join("; "));
  await answers(/^one/);
  await session.checkpoint({ name: "green" });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await session.restore("green");
  const lines = [
    "echo two > app/index.html; rm -r app/inner; echo changed > app/x; rm app/link",
    "echo extra > app/extra; mkdir -p app/new/below; echo f > app/new/below/f; echo more > data/rows",
  ];
  await session.exec(lines.join("; "));
});

async function answers(pattern: RegExp): Promise<void> {
  const ask =
    "exec 3<>/dev/tcp/127.0.0.1/8123 && printf 'GET /index.html HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3 | tail -n 1";
  await eventually(
    "the server's answer",
    () => session.exec(["bash", "-c", ask], { shell: "own" }),
    ({ stdout }) => pattern.test(stdout),
  );
}

async function serverPid(): Promise<number | undefined> {
  return (await session.ps()).find(({ command }) => command === SERVER)?.hostPid;
}

async function differing(from: string, to: string): Promise<string[]> {
  const { files } = await own.waypoint.diff(from, to);
  return (files ?? []).map(({ path }) => path).filter((path) => path !== "/srv/data/served");
}

test("files alone come back under a server that goes on, and undo takes that back", async () => {
  const pid = await serverPid();
  await session.exec("export LATER=yes");
  const restored = await session.restore("green", { only: "files", check: true });

  expect(await differing("green", "web")).toEqual([]);
  expect(restored).toMatchObject({
    parts: { only: "files" },
    files: { leftOut: [] },
    check: { files: { count: 0 }, processes: null },
  });
  expect(await serverPid()).toBe(pid);
  await answers(/^one/);
  const seen = await session.exec(
    "echo $LATER; stat -c %a app/inner app/x; stat -c %h app/x; readlink app/link",
  );
  expect(seen.stdout).toBe("yes\n750\n644\n2\nindex.html\n");

  await session.checkpoint({ name: "after" });
  const undone = await session.undo({ check: true });
  expect(undone).toMatchObject({ check: { files: { count: 0 } } });
  expect(await differing(restored.undo ?? "", "web")).toEqual([]);
  expect(await serverPid()).toBe(pid);

  await session.undo();
  expect(await differing("after", "web")).toEqual([]);
});

test("the plan of files alone is what is then done, and names who holds them open", async () => {
  await session.exec("(sleep 100002 < app/x &)");
  const running = async () => (await session.ps()).map(({ command }) => command);
  await expect.poll(running, { timeout: 30_000 }).toContain("sleep 100002");
  const plan = await session.planRestore("green", { only: "files" });
  const { stdout } = await runCommand(own.stateDir, ["restore", "web", "green", "--only", "files"]);
  const { operations } = await session.log();
  const before = operations.at(-1)?.undo ?? "";

  expect(plan.heldOpen).toMatchObject(
    expect.arrayContaining([
      { pid: expect.any(Number), command: "sleep 100002", paths: ["/srv/app/x"], pathsCount: 1 },
    ]),
  );
  expect(stdout).toMatch(/^Warning: process \d+ \(sleep 100002\) has \/srv\/app\/x open;/m);
  expect(stdout).toMatch(/what runs goes on$/m);
  const told = (plan.changes.files ?? []).map(({ path }) => path);
  expect(told.filter((path) => path !== "/srv/data/served")).toEqual(
    await differing(before, "web"),
  );
});

test("only some paths, also where their directory is gone", async () => {
  await session.restore("green", { paths: ["app/inner/deep", "/srv/app/index.html"] });

  const seen = await session.exec("cat app/inner/deep app/index.html app/x; ls app/extra");
  expect(seen.stdout).toBe("deep\none\nchanged\napp/extra\n");

  await session.undo();
  const again = await session.exec("cat app/index.html; ls app/inner", {
    shell: "own",
    cwd: "/srv",
  });
  expect(again).toMatchObject({ stdout: "two\n", exitCode: 2 });
});

test("all files but some", async () => {
  await session.restore("green", { except: ["/srv/data", "/srv/app/new/below"] });

  const seen = await session.exec("cat app/index.html data/rows app/new/below/f; ls app/extra");
  expect(seen).toMatchObject({ stdout: "one\nmore\nf\n", exitCode: 2 });
});

test("a directory that is a file now is refused before anything changes", async () => {
  await session.exec("rm -r app/turns; echo file > app/turns");
  const before = (await session.log()).checkpoints.length;
  const plan = await session.planRestore("green", { paths: ["/srv/app"] });
  const refused = session.restore("green", { paths: ["/srv/app"] });

  await expect(refused).rejects.toMatchObject({ code: "FILE_REFUSED" });
  expect(plan.refused).toContain("/srv/app/turns is a file now and was a directory then");
  const line = ["restore", "web", "green", "--path", "/srv/app"];
  const dry = await runCommand(own.stateDir, [...line, "--dry-run"]);
  const real = await runCommand(own.stateDir, [...line, "--yes"]);
  expect(dry.stdout).toContain("It would be refused: /srv/app/turns is a file now");
  expect([dry.exitCode, real.exitCode]).toEqual([12, 12]);
  const inside = session.restore("green", { paths: ["/srv/app/turns/in"] });
  await expect(inside).rejects.toMatchObject({ code: "FILE_REFUSED" });
  expect((await session.exec("cat app/turns app/index.html")).stdout).toBe("file\ntwo\n");
  expect((await session.log()).checkpoints).toHaveLength(before);
  await session.restore("green", { paths: ["/srv/app"], except: ["/srv/app/turns"] });
  expect((await session.exec("cat app/turns app/index.html")).stdout).toBe("file\none\n");
});

test.each([
  ["FILE_NOT_FOUND", { paths: ["/srv/nothing"] }],
  ["USAGE_INVALID", { only: "processes", paths: ["/srv"] }],
  ["USAGE_INVALID", { only: "processes", withoutUndo: true }],
] as const)("bad input is %s and changes nothing: %o", async (code, options) => {
  const { only, ...rest } = { only: undefined, paths: [], ...options };
  const choice = { ...rest, paths: [...rest.paths], ...(only === undefined ? {} : { only }) };

  await expect(session.restore("green", choice)).rejects.toMatchObject({ code });
  expect((await session.exec("cat app/index.html")).stdout).toBe("two\n");
});

test("what is in a bind is never put back, and the plan says so", async () => {
  const source = mkdtempSync(path.join(os.tmpdir(), "waypoint-bind-"));
  try {
    const binds = [{ source, target: "/mnt/shared" }];
    const bound = await own.waypoint.new({ name: "bound", net: "none", binds });
    await bound.checkpoint({ name: "with-bind" });
    await bound.exec("echo kept > /mnt/shared/file");
    const plan = await bound.planRestore("with-bind");
    const inside = bound.restore("with-bind", { paths: ["/mnt/shared/file"] });

    expect(plan.outside.binds).toMatchObject([{ source, target: "/mnt/shared" }]);
    await expect(inside).rejects.toMatchObject({ code: "FILE_REFUSED" });
    await bound.restore("with-bind", { only: "files" });
    expect(readFileSync(path.join(source, "file"), "utf8")).toBe("kept\n");
    await bound.remove({ force: true });
  } finally {
    rmSync(source, { recursive: true });
  }
});

test("a link in the place of a directory is not followed", async () => {
  await session.exec("mkdir /srv/elsewhere; mv app/new /srv/moved; ln -s /srv/elsewhere app/new");
  await session.checkpoint({ name: "linked" });
  await session.exec("rm app/new; mkdir app/new; echo in > app/new/in");
  await session.checkpoint({ name: "directory" });
  await session.exec("rm -r app/new; ln -s /srv/elsewhere app/new");
  const refused = session.restore("directory", { paths: ["/srv/app/new/in"] });

  await expect(refused).rejects.toMatchObject({ code: "FILE_REFUSED" });
  expect((await session.exec("ls /srv/elsewhere")).stdout).toBe("");
});

test("a checkpoint of another base is refused, whole and in parts", async () => {
  using bases = new TestBases();
  const base = await bases.makeBusybox("busybox");
  const other = await own.waypoint.new({ name: "tiny", net: "none", base });
  await other.checkpoint({ name: "elsewhere" });

  for (const options of [{}, { only: "files" }, { paths: ["/bin"] }] as const) {
    const choice = { ...options, ...("paths" in options ? { paths: [...options.paths] } : {}) };
    await expect(session.restore("elsewhere", choice as object)).rejects.toMatchObject({
      code: "CHECKPOINT_OF_OTHER_SESSION",
      message: expect.stringContaining(`on another base, ${base}`),
    });
  }
  await other.remove({ force: true });
});

test("processes alone come back on the files of now", async () => {
  await session.exec("(sleep 100003 &)");
  await session.checkpoint({ name: "sleeping" });
  await session.exec("pkill -f 'sleep 100003'; echo three > app/index.html");
  const restored = await session.restore("sleeping", { only: "processes", check: true });

  expect(restored.check).toMatchObject({ processes: { missing: [], others: [] } });
  const ps = (await session.ps()).map(({ command }) => command);
  expect(ps).toContain("sleep 100003");
  expect((await session.exec("cat app/index.html")).stdout).toBe("three\n");
  await session.undo();
  expect((await session.ps()).map(({ command }) => command)).not.toContain("sleep 100003");
});

test("processes that had a file open which is another now are refused, and all stays", async () => {
  await session.exec("echo long enough > data/followed; (tail -f data/followed > /dev/null &)");
  await session.checkpoint({ name: "following" });
  await session.exec("pkill tail; echo x > data/followed");
  const pid = await serverPid();
  const refused = session.restore("following", { only: "processes" });

  await expect(refused).rejects.toMatchObject({
    code: "CRIU_RESTORE_FAILED",
    hint: expect.stringContaining("restore everything"),
  });
  expect(await serverPid()).toBe(pid);
  expect((await session.exec("cat data/followed")).stdout).toBe("x\n");
});

test("files alone have no processes to bring back", async () => {
  await session.checkpoint({ name: "files", filesOnly: true });

  await expect(session.restore("files", { only: "processes" })).rejects.toMatchObject({
    code: "PART_NOT_CAPTURED",
  });
});
