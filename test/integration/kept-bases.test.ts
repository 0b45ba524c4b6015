import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestBases } from "../support/bases.ts";
import { finished, runCommand, startCommand } from "../support/command-line.ts";
import { runInDaemon } from "../support/run-in-daemon.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const MEBIBYTE = 1024 ** 2;
const run = promisify(execFile);
const made = new TestBases();
let own: TestWaypoint;
let from: string;

beforeAll(async () => {
  own = await openTestWaypoint();
  from = await made.makeBusybox("root");
  writeFileSync(path.join(from, "note"), "then\n");
}, 120_000);

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
  made[Symbol.dispose]();
});

async function left(): Promise<string[]> {
  const listed = await runInDaemon(own, `ls -A ${own.stateDir}/store/bases`);
  return listed.split("\n").filter((name) => name !== "" && name !== "default.json");
}

async function cli(...args: string[]) {
  return await runCommand(own.stateDir, args);
}

test("what is kept of a directory does not move when that changes", async () => {
  const { waypoint } = own;
  const kept = await waypoint.bases.add({ name: "then", from });
  await using session = await waypoint.new({ name: "still", base: "then" });
  const checkpoint = await session.checkpoint();

  writeFileSync(path.join(from, "note"), "now\n");
  writeFileSync(path.join(from, "newer"), "");

  expect(kept).toMatchObject({ name: "then", from, isDefault: false, sessions: 0 });
  expect(kept.sizeBytes).toBeGreaterThan(MEBIBYTE);
  expect((await session.info()).base).toBe("then");
  expect((await session.exec("cat /note; ls /newer")).stdout).toBe("then\n");
  await using fork = (await checkpoint.fork(1))[0];
  expect((await fork?.exec("cat /note"))?.stdout).toBe("then\n");
  await session.exec("echo mine > /note");
  await session.restore(checkpoint.id);
  expect((await session.exec("cat /note")).stdout).toBe("then\n");
  expect((await cli("cat", `${checkpoint.id}:/note`)).stdout).toBe("then\n");
});

test("a base on which something stands is not removed", async () => {
  const { waypoint } = own;
  await waypoint.bases.add({ name: "used", from });
  const session = await waypoint.new({ name: "user", base: "used" });
  await session.checkpoint();

  const refused = await cli("base", "rm", "used");
  expect(refused).toMatchObject({ exitCode: 12, stdout: "" });
  expect(refused.stderr).toContain("The base used is in use (sessions: 1, checkpoints: 1).");

  await expect(waypoint.bases.remove("used")).rejects.toMatchObject({ code: "BASE_IN_USE" });

  await session.remove({ force: true });
  expect((await cli("base", "rm", "used")).stdout).toBe("Base used is removed\n");
  expect(await left()).not.toContain("used");
  await expect(waypoint.new({ base: "used" })).rejects.toMatchObject({ code: "BASE_NOT_FOUND" });
  await expect(waypoint.bases.remove("used")).rejects.toMatchObject({ code: "BASE_NOT_FOUND" });
});

test("an archive can be kept, and what tar had to keep of files is there", async () => {
  writeFileSync(path.join(from, "linked"), "x".repeat(10_000));
  await run(
    "sh",
    [
      "-c",
      "ln -f linked other && chown 7:8 linked && chmod 4750 linked && mkdir -p tmp run && " +
        "python3 -c \"import os; os.setxattr('note', 'user.note', b'kept')\" && truncate -s 8M sparse && touch tmp/mine run/mine",
    ],
    { cwd: from },
  );
  const archive = made.path("root.tar.gz");
  await run("tar", ["-czf", archive, "--xattrs", "-C", from, "."]);

  await own.waypoint.bases.add({ name: "packed", from: archive });
  await own.waypoint.bases.add({ name: "copied", from });

  for (const [name, mine] of [
    ["packed", "/tmp/mine\n"],
    ["copied", ""],
  ] as const) {
    await using session = await own.waypoint.new({ base: name });
    const facts = "stat -c '%a %u:%g %h %s' /linked; ls /tmp/mine; cat /other";
    expect((await session.exec(facts)).stdout).toBe(
      `4750 7:8 2 10000\n${mine}${"x".repeat(10_000)}`,
    );
    if (name === "copied") {
      expect((await session.exec("stat -c %b /sparse")).stdout).toBe("0\n");
    }
    const inStore = `${own.stateDir}/store/bases/${name}/root`;
    expect(
      await runInDaemon(
        own,
        `python3 -c "import os; print(os.getxattr('${inStore}/note', 'user.note'))"`,
      ),
    ).toBe("b'kept'\n");
    expect(await runInDaemon(own, `ls ${inStore}/run`)).toBe(name === "packed" ? "mine\n" : "");
    await session.remove({ force: true });
  }
});

test("two bases have in the store once what is the same in both", async () => {
  const { waypoint } = own;
  await run("dd", ["if=/dev/urandom", `of=${path.join(from, "large")}`, "bs=1M", "count=24"]);
  await waypoint.bases.add({ name: "one", from });
  writeFileSync(path.join(from, "large-too"), Buffer.alloc(8 * MEBIBYTE, "y"));
  await waypoint.bases.add({ name: "two", from });
  await runInDaemon(own, `sync -f ${own.stateDir}/store`);

  const du = `btrfs filesystem du -s --raw ${own.stateDir}/store/bases/two/root | tail -1`;
  const [total = 0, exclusive = 0] = (await runInDaemon(own, du)).trim().split(/\s+/).map(Number);
  expect(total).toBeGreaterThan(33 * MEBIBYTE);
  expect(exclusive).toBeGreaterThan(7 * MEBIBYTE);
  expect(exclusive).toBeLessThan(12 * MEBIBYTE);
  rmSync(path.join(from, "large"));
  rmSync(path.join(from, "large-too"));
}, 120_000);

test("what is excluded is empty or missing", async () => {
  for (const name of ["srv/cache/deep", "srv/kept"])
    mkdirSync(path.join(from, name), { recursive: true });
  writeFileSync(path.join(from, "srv/cache/deep/file"), "");
  writeFileSync(path.join(from, "srv/kept/[odd]*"), "");

  const added = await cli(
    ...["base", "add", "lean", "--from", from],
    ...["--exclude", "/srv/cache", "--exclude", "/srv/kept/[odd]*", "--exclude", "/../../note"],
  );
  expect(added.stderr).toBe("");
  await using session = await own.waypoint.new({ base: "lean" });
  expect((await session.exec("cd /srv; find . | sort; ls /note")).stdout).toBe(
    ".\n./cache\n./kept\n",
  );
  await session.remove({ force: true });
});

test("the default base is what sessions stand on that are given none", async () => {
  const { waypoint } = own;
  await waypoint.bases.add({ name: "usual", from });

  expect((await cli("base", "default", "usual")).stdout).toBe(
    "New sessions stand on the base usual\n",
  );
  const usual = await waypoint.new({ name: "on-default" });
  const host = await waypoint.new({ name: "on-host", base: "/" });
  expect([(await usual.info()).base, (await host.info()).base]).toEqual(["usual", "/"]);
  const listed = await cli("base", "ls");
  expect(listed.stdout).toMatch(/^usual \(default\) +[\d.]+ \w+ +\d+s ago +1 +0 +\//m);
  await usual.remove({ force: true });
  await host.remove({ force: true });

  await waypoint.bases.remove("usual");
  expect((await waypoint.bases.list()).filter(({ isDefault }) => isDefault)).toEqual([]);
  expect((await cli("base", "default", "usual")).exitCode).toBe(10);
});

test("what cannot be kept leaves nothing", async () => {
  const { waypoint } = own;
  mkdirSync(made.path("empty"));
  writeFileSync(made.path("no-archive"), "no");
  const before = await left();

  for (const [name, source] of [
    ["empty", made.path("empty")],
    ["no-archive", made.path("no-archive")],
    ["missing", made.path("missing")],
    ["state", own.stateDir],
  ] as const) {
    await expect(waypoint.bases.add({ name, from: source })).rejects.toMatchObject({
      code: "BASE_INVALID",
      message: expect.not.stringContaining("store/bases"),
    });
  }
  await expect(waypoint.bases.add({ name: "../x", from })).rejects.toMatchObject({
    code: "NAME_INVALID",
  });
  await expect(waypoint.bases.add({ name: "then", from })).rejects.toMatchObject({
    code: "NAME_IN_USE",
  });
  expect(await left()).toEqual(before);
});

/** Makes a root whose copy takes a while, for its many files. */
async function makeSlow(name: string): Promise<string> {
  const fill = `mkdir -p ${name}/many && cp -a root/bin ${name}/ && cd ${name}/many && seq 40000 | xargs touch`;
  await run("sh", ["-c", fill], { cwd: made.path() });
  return made.path(name);
}

async function copiersOf(source: string): Promise<string> {
  const { stdout } = await run("ps", ["-eo", "pid,args", "--width", "500"]);
  return stdout
    .split("\n")
    .filter((line) => line.includes(`tar --create`) && line.includes(source))
    .join("\n");
}

test("whoever cancels leaves nothing, nor does a daemon that is killed", async () => {
  const source = await makeSlow("slow");
  const before = await left();
  const adding = startCommand(own.stateDir, ["base", "add", "cancelled", "--from", source]);
  const cancelled = finished(adding);
  await eventually(
    "a copy under way",
    () => copiersOf(source),
    (found) => found !== "",
  );

  adding.kill("SIGINT");

  expect((await cancelled).exitCode).toBe(130);
  await eventually(
    "no copier",
    () => copiersOf(source),
    (found) => found === "",
  );
  expect(await left()).toEqual(before);

  const lost = finished(startCommand(own.stateDir, ["base", "add", "lost", "--from", source]));
  await eventually(
    "a copy under way",
    () => copiersOf(source),
    (found) => found !== "",
  );
  process.kill(await own.daemonPid(), "SIGKILL");
  await lost;

  await eventually(
    "no copier",
    () => copiersOf(source),
    (found) => found === "",
  );
  await own.waypoint.sessions();
  expect(await left()).toEqual(before);
}, 120_000);

test("a directory that is a subvolume of the store's own btrfs is kept as a snapshot", async () => {
  const disk = made.path("disk");
  await run(
    "sh",
    [
      "-c",
      `mkdir disk; truncate -s 2G disk.img; mkfs.btrfs -q disk.img; mount -o loop disk.img disk
    btrfs -q subvolume create disk/root; cp -a root/bin disk/root/; mkdir disk/root/tmp disk/outside
    touch disk/root/tmp/mine disk/outside/theirs; ln -s /outside disk/root/run
    head -c 64M /dev/urandom > disk/root/large; sync -f disk`,
    ],
    { cwd: made.path() },
  );
  try {
    await using there = await openTestWaypoint({ stateDir: path.join(disk, "state") });
    await there.waypoint.bases.add({ name: "snapshot", from: path.join(disk, "root") });
    const root = path.join(disk, "state/store/bases/snapshot/root");
    await run("sync", ["-f", disk]);

    const du = await run("btrfs", ["filesystem", "du", "-s", "--raw", root]);
    const [total, exclusive] = (du.stdout.trim().split("\n").at(-1) ?? "")
      .trim()
      .split(/\s+/)
      .map(Number);
    expect(total).toBeGreaterThan(64 * MEBIBYTE);
    expect(exclusive).toBe(0);
    expect(readdirSync(path.join(root, "tmp"))).toEqual([]);
    expect(readdirSync(path.join(disk, "outside"))).toEqual(["theirs"]);
    await there.waypoint.bases.remove("snapshot");
  } finally {
    await run("umount", [disk]);
  }
}, 120_000);
