import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runCommand, runShellLine } from "../support/command-line.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** On the machine only: a session has a /dev/shm of its own. */
const SECRET = `/dev/shm/waypoint-secret-${process.pid}`;
const MIB = 1024 ** 2;

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  writeFileSync(SECRET, "of the machine\n");
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web", net: "none", env: { HOME: "/none" } });
  const lines = [
    "mkdir -p /srv/app && cd /srv/app",
    "head -c 3000000 /dev/urandom > binary",
    "echo inside > file; ln -s /srv/app/file absolute; ln -s ../../srv/app/file relative",
    `ln -s ${SECRET} leak; ln -s ../../../../..${SECRET} climb; ln -s loop loop; mkfifo fifo`,
    "ln -s /dev/shm shm; echo odd > $'new\\nline\\e[31m\\xff'",
  ];
  await session.exec(lines.join("; "));
  await session.checkpoint({ name: "first" });
  await session.exec("rm binary; echo changed > file");
  for (const name of ["second", "third", "fourth"]) {
    await session.exec(`echo ${name} > step`);
    await session.checkpoint({ name });
  }
});

afterAll(async () => {
  rmSync(SECRET, { force: true });
  await own[Symbol.asyncDispose]();
});

async function digest(content: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const bytes of content) hash.update(bytes);
  return hash.digest("hex");
}

test("a file that was deleted comes back byte for byte from three checkpoints ago", async () => {
  const gone = await session.exec("test -e /srv/app/binary");
  const { stdout } = await runShellLine(own.stateDir, "$W cat web@~3:binary | sha256sum");
  const sdk = await digest(own.waypoint.cat("first", "/srv/app/binary"));

  expect(gone.exitCode).toBe(1);
  expect(stdout.slice(0, 64)).toBe(sdk);
  await session.exec("cd /srv/app");
  await own.waypoint.cp({ moment: "first", path: "binary" }, { moment: "web", path: "back" });
  const back = await session.exec("sha256sum < /srv/app/back; rm /srv/app/back");
  expect(back.stdout.slice(0, 64)).toBe(sdk);
});

test("several files follow one another; a session is read as it is now", async () => {
  const { stdout } = await runCommand(own.stateDir, ["cat", "first:file", "web:/srv/app/file"]);

  expect(stdout).toBe("inside\nchanged\n");
});

test("links are followed inside the moment, absolute ones and those that climb too", async () => {
  const good = await runCommand(own.stateDir, ["cat", "first:absolute", "first:relative"]);

  expect(good.stdout).toBe("inside\ninside\n");
  for (const path of ["leak", "climb", "loop", `shm/${SECRET.slice(9)}`, `../..${SECRET}`]) {
    for (const moment of ["first", "web"]) {
      const bad = await runCommand(own.stateDir, ["cat", `${moment}:/srv/app/${path}`]);
      expect([bad.exitCode, bad.stdout]).toEqual([10, ""]);
    }
  }
  await expect(digest(own.waypoint.cat("first", "/srv/app/leak"))).rejects.toMatchObject({
    code: "FILE_NOT_FOUND",
  });
});

test("of what is not there the way is told, as far as it goes", async () => {
  await session.exec("ln -s nowhere /srv/app/dangling");
  const hintOf = async (at: string) => {
    const told = await digest(own.waypoint.cat("web", at)).catch(
      (error: { hint: string }) => error,
    );
    return (told as { hint: string }).hint;
  };

  expect(await hintOf("/srv/app/absent")).toMatch(/^`waypoint browse web` shows/);
  expect(await hintOf("/srv/absent/one/file")).toMatch(/^There is no \/srv\/absent\. /);
  for (const at of ["/srv/app/dangling", "/srv/app/dangling/below/file"]) {
    expect(await hintOf(at)).toMatch(/^\/srv\/app\/dangling is a link that leads to nothing\. /);
  }
});

test("what is no file is refused at once, before anything is printed", async () => {
  for (const [path, kind] of [
    ["/srv/app", "directory"],
    ["/srv/app/fifo", "fifo"],
  ]) {
    const { exitCode, stdout, stderr } = await runCommand(own.stateDir, [
      ...["cat", "first:file", `first:${path}`],
    ]);
    expect([exitCode, stdout]).toEqual([12, ""]);
    expect(stderr).toContain(`is no file but a ${kind}.`);
  }
  await expect(digest(own.waypoint.cat("first", "/srv/app"))).rejects.toMatchObject({
    code: "FILE_REFUSED",
  });
});

test("what lies in a bind is in no moment, and the error says where it is", async () => {
  const source = mkdtempSync(path.join(os.tmpdir(), "waypoint-bound-"));
  writeFileSync(path.join(source, "file"), "of the machine\n");
  const binds = [{ source, target: "/srv/bound" }];
  const bound = await own.waypoint.new({ name: "bound", net: "none", binds });
  await bound.exec("ln -s /srv/bound/file /srv/way");
  for (const at of ["/srv/bound/file", "/srv/bound/../bound/file"]) {
    const { exitCode, stderr } = await runCommand(own.stateDir, ["cat", `bound:${at}`]);
    expect(exitCode).toBe(12);
    expect(stderr).toContain(source);
  }
  expect((await runCommand(own.stateDir, ["cat", "bound:/srv/way"])).exitCode).toBe(10);
  await bound.remove({ force: true });
  rmSync(source, { recursive: true });
});

test("a name is bytes, on the command line and in the SDK", async () => {
  const name = Buffer.from("/srv/app/new\nline\u001b[31m\xff", "latin1");
  const shell = await runShellLine(own.stateDir, "$W cat first:/srv/app/$'new\\nline\\e[31m\\xff'");
  const pieces: Uint8Array[] = [];
  for await (const bytes of own.waypoint.cat("first", name)) pieces.push(bytes);
  const missing = await runShellLine(own.stateDir, "$W cat first:$'no\\e[31m\\n\\xfe'");

  expect(shell.stdout).toBe("odd\n");
  expect(Buffer.concat(pieces).toString()).toBe("odd\n");
  expect(missing.exitCode).toBe(10);
  expect(missing.stderr).not.toContain("\u001b");
});

test("300 MB are streamed, and neither side holds them", async () => {
  await session.exec("head -c 300M /dev/urandom > /srv/large");
  const said = await session.exec("sha256sum < /srv/large");
  const pid = await own.daemonPid();
  const before = await runShellLine(own.stateDir, `echo 5 > /proc/${pid}/clear_refs`);
  const cat = await runShellLine(own.stateDir, "$W cat web:/srv/large | sha256sum");
  const peak = await runShellLine(own.stateDir, `grep -E 'VmHWM' /proc/${pid}/status`);

  expect(before.exitCode).toBe(0);
  expect(cat.stdout).toBe(said.stdout);
  expect(Number(/(\d+) kB/.exec(peak.stdout)?.[1]) / 1024).toBeLessThan(300);
  await session.exec("rm /srv/large");
}, 180_000);

test("a checkpoint that is removed while it is read is read to the file's end", async () => {
  const other = await own.waypoint.new({ name: "other", net: "none" });
  await other.exec("head -c 64M /dev/urandom > /srv/large");
  const said = await other.exec("sha256sum < /srv/large");
  await other.checkpoint({ name: "removed" });
  const content = own.waypoint.cat("removed", "/srv/large");
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for await (const bytes of content) {
    if (sizeBytes === 0) await other.remove({ force: true });
    sizeBytes += bytes.length;
    hash.update(bytes);
  }

  expect(sizeBytes).toBe(64 * MIB);
  expect(said.stdout).toContain(hash.digest("hex"));
  await expect(digest(own.waypoint.cat("removed", "/srv/large"))).rejects.toMatchObject({
    code: "CHECKPOINT_NOT_FOUND",
  });
});
