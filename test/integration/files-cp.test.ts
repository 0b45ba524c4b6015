import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { readXattr, setXattr } from "../../src/linux/kernel/index.ts";
import { runShellLine, startCommand } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** On the machine only: a session has a /dev/shm of its own. */
const OUTSIDE = `/dev/shm/waypoint-outside-${process.pid}`;

let own: TestWaypoint;
let session: Session;
let machineDir: string;

beforeAll(async () => {
  machineDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-cp-"));
  mkdirSync(OUTSIDE);
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web", net: "none", env: { HOME: "/none" } });
  const lines = [
    "mkdir -p /srv/tree/inner && cd /srv/tree",
    "echo one > file; ln file second; chmod 640 file; chown 1000:1000 file",
    "ln -s /etc/hostname link; mkfifo fifo; truncate -s 50M sparse; echo end >> sparse",
    "cp /bin/true setuid; chmod 4755 setuid; echo deep > inner/$'new\\nline\\xff'",
    "touch -d '2001-02-03 04:05:06' inner/old; chmod 750 inner",
    `ln -s ${OUTSIDE} /srv/away`,
  ];
  await session.exec(lines.join("; "));
  await session.checkpoint({ name: "first" });
  await session.exec("rm -rf /srv/tree; mkdir -p /srv/in");
});

afterAll(async () => {
  rmSync(machineDir, { recursive: true, force: true });
  rmSync(OUTSIDE, { recursive: true, force: true });
  await own[Symbol.asyncDispose]();
});

test("a directory comes out of a checkpoint with all that is in it", async () => {
  const result = await own.waypoint.cp(
    { moment: "first", path: "/srv/tree" },
    { path: machineDir },
  );
  const at = (name: string) => path.join(machineDir, "tree", name);
  const file = statSync(at("file"));

  expect(result).toMatchObject({ directories: 2, leftOutCount: 1 });
  expect(readFileSync(at("second"), "utf8")).toBe("one\n");
  expect(file.ino).toBe(statSync(at("second")).ino);
  expect([file.mode & 0o7777, file.uid, file.gid]).toEqual([0o640, 1000, 1000]);
  expect(readlinkSync(at("link"))).toBe("/etc/hostname");
  expect(lstatSync(at("fifo")).isFIFO()).toBe(true);
  expect(statSync(at("sparse")).size).toBe(50 * 1024 ** 2 + 4);
  expect(statSync(at("sparse")).blocks * 512).toBeLessThan(1024 ** 2);
  expect(statSync(at("inner")).mode & 0o7777).toBe(0o750);
  expect(statSync(at("inner/old")).mtime.getUTCFullYear()).toBe(2001);
  const names = readdirSync(at("inner"), "latin1");
  expect(names.sort()).toEqual(["new\nline\xff", "old"]);
});

test("set-user-id bits do not come out to the machine, and stay in a session", async () => {
  const out = path.join(machineDir, "out");
  const { leftOut } = await own.waypoint.cp(
    { moment: "first", path: "/srv/tree/setuid" },
    { path: out },
  );
  await own.waypoint.cp(
    { moment: "first", path: "/srv/tree/setuid" },
    { moment: "web", path: "/srv/setuid" },
  );

  expect(leftOut[0]?.reason).toContain("set-user-id");
  expect(statSync(out).mode & 0o7777).toBe(0o755);
  expect((await session.exec("stat -c %a /srv/setuid")).stdout).toBe("4755\n");
});

test("a file of the machine goes into a live session, which sees it at once", async () => {
  const file = path.join(machineDir, "host file");
  writeFileSync(file, "from the machine\n", { mode: 0o600 });
  const line = `cd ${machineDir} && $W cp './host file' web:/srv/in/ && $W cp --owner 1000:5 './host file' web:/srv/in/owned`;
  const { exitCode } = await runShellLine(own.stateDir, line);

  expect(exitCode).toBe(0);
  const seen = await session.exec("cat '/srv/in/host file'; stat -c '%U %a' '/srv/in/host file'");
  expect(seen.stdout).toBe("from the machine\nroot 600\n");
  expect((await session.exec("stat -c %u:%g /srv/in/owned")).stdout).toBe("1000:5\n");
  await session.checkpoint({ name: "with-file" });
  const again = await runShellLine(own.stateDir, "$W cat 'with-file:/srv/in/host file'");
  expect(again.stdout).toBe("from the machine\n");
});

test("extended attributes go in and out", async () => {
  const file = path.join(machineDir, "attributed");
  writeFileSync(file, "noted\n");
  setXattr(file, "trusted.note", "kept");
  await own.waypoint.cp({ path: file }, { moment: "web", path: "/srv/in" });
  await own.waypoint.cp({ moment: "web", path: "/srv/in/attributed" }, { path: `${file}-back` });

  expect(readXattr(Buffer.from(`${file}-back`), "trusted.note")?.toString()).toBe("kept");
});

test("a link of the session leads nowhere on the machine, also when it appears meanwhile", async () => {
  const tree = path.join(machineDir, "many");
  mkdirSync(path.join(tree, "d"), { recursive: true });
  for (let number = 0; number < 40; number += 1) {
    writeFileSync(path.join(tree, "d", `f${number}`), "x".repeat(20_000));
  }
  const flip = `mkdir -p /srv/race && cd /srv/race && (while :; do rm -rf d; ln -s ${OUTSIDE} d; rm -f d; mkdir d; done) > /dev/null 2>&1 & echo $! > /srv/flip.pid`;
  await session.exec(flip);
  await expect(
    own.waypoint.cp({ path: tree }, { moment: "web", path: "/srv/away/x" }),
  ).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
  for (let round = 0; round < 15; round += 1) {
    const places = [{ path: `${tree}/.` }, { moment: "web", path: "/srv/race" }] as const;
    await own.waypoint.cp(...places).catch(() => {});
  }
  await session.exec("kill $(cat /srv/flip.pid)");

  expect(readdirSync(OUTSIDE)).toEqual([]);
});

test("a link in the place of a file is replaced, and what it leads to is not touched", async () => {
  const file = path.join(machineDir, "replacing");
  writeFileSync(file, "new\n");
  await session.exec("echo victim > /srv/victim; ln -s /srv/victim /srv/in/link");
  await own.waypoint.cp({ path: file }, { moment: "web", path: "/srv/in/link" });

  expect((await session.exec("cat /srv/victim /srv/in/link")).stdout).toBe("victim\nnew\n");
});

test("what cannot be done says so and changes nothing", async () => {
  const { waypoint } = own;
  const file = path.join(machineDir, "plain");
  writeFileSync(file, "plain\n");
  const into = (moment: string, to: string) =>
    waypoint.cp({ path: file }, { moment, path: to }).catch((error: unknown) => error);

  expect(await into("first", "/srv/x")).toMatchObject({ code: "FILE_REFUSED" });
  expect(await into("web", "/srv/nosuch/x")).toMatchObject({ code: "FILE_NOT_FOUND" });
  expect(await into("web", "/proc/nosuch")).toMatchObject({ code: "FILE_FAILED" });
  const tree = { moment: "first", path: "/srv/tree" };
  await expect(waypoint.cp(tree, { path: file })).rejects.toMatchObject({ code: "FILE_REFUSED" });
  await expect(waypoint.cp({ path: file }, { path: `${file}2` })).rejects.toMatchObject({
    code: "USAGE_INVALID",
  });
  const bad = { moment: "web", path: "a\0b" };
  await expect(waypoint.cp({ path: file }, bad)).rejects.toMatchObject({ code: "USAGE_INVALID" });
  expect(readFileSync(file, "utf8")).toBe("plain\n");
  expect(existsSync(`${file}2`)).toBe(false);
});

test("a copy that is interrupted leaves the old file and nothing besides", async () => {
  await session.exec("head -c 400M /dev/zero > /srv/large; sync");
  const target = path.join(machineDir, "interrupted");
  mkdirSync(target);
  writeFileSync(path.join(target, "large"), "old\n");
  const copying = startCommand(own.stateDir, ["cp", "web:/srv/large", target]);
  await eventually(
    "the copy to begin",
    () => readdirSync(target).length,
    (count) => count > 1,
  );
  copying.kill("SIGKILL");
  const left = await eventually(
    "the copy to be given up",
    () => readdirSync(target),
    (names) => names.length === 1,
  );

  expect(left).toEqual(["large"]);
  expect(readFileSync(path.join(target, "large"), "utf8")).toBe("old\n");
  await session.exec("rm /srv/large");
});
