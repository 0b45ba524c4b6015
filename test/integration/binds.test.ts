import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { hasCode, type Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { failureOf } from "../support/failing-command.ts";
import { expectedHoldings } from "../support/holdings.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { readWholeState } from "../support/whole-state.ts";

const COUNTER =
  'n=0; while :; do n=$((n+1)); echo "$n" >&3; echo "$n" > /tmp/n; sleep 0.02; done 3>>/shared/log';

let own: TestWaypoint;
let hostDir: string;
let sharedDir: string;

beforeAll(async () => {
  own = await openTestWaypoint();
  hostDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-binds-"));
  sharedDir = path.join(hostDir, "shared");
  writeFileSync(path.join(hostDir, "file"), "");
});
beforeEach(() => {
  rmSync(sharedDir, { recursive: true, force: true });
  mkdirSync(sharedDir);
});
afterAll(async () => {
  rmSync(hostDir, { recursive: true, force: true });
  await own[Symbol.asyncDispose]();
});

const out = async (session: Session, line: string) =>
  (await session.exec(line, { shell: "own" })).stdout.trim();

function bindShared(readOnly = false): Promise<Session> {
  const binds = [{ source: sharedDir, target: "/shared", readOnly }];
  return own.waypoint.new({ net: "none", binds });
}

async function untilCounting(session: Session): Promise<void> {
  const before = Number(await out(session, "cat /tmp/n || echo 0"));
  const read = async () => Number(await out(session, "cat /tmp/n"));
  await eventually("a count", read, (count) => count > before + 2);
}

describe("a bound directory", () => {
  test("is the host's own: both sides see what the other writes", async () => {
    const session = await bindShared();
    writeFileSync(path.join(sharedDir, "from-host"), "host\n");

    await session.exec("echo session > /shared/from-session");

    expect(await out(session, "cat /shared/from-host")).toBe("host");
    expect(readFileSync(path.join(sharedDir, "from-session"), "utf8")).toBe("session\n");
    await session.remove({ force: true });
  });

  test("that is read-only is so in a fork and after a restore too", async () => {
    const session = await bindShared(true);
    const write = async (where: Session) =>
      (await where.exec("echo x > /shared/x", { shell: "own" })).stderr;

    const checkpoint = await session.checkpoint();
    const [fork] = (await checkpoint.fork(1)) as [Session];
    await session.restore(checkpoint);

    for (const where of [session, fork]) {
      expect(await write(where)).toContain("Read-only file system");
      await where.remove({ force: true });
    }
    expect(existsSync(path.join(sharedDir, "x"))).toBe(false);
  });

  test("is not put back by a restore; what has it open goes on", async () => {
    const session = await bindShared();
    await session.exec(`(${COUNTER}) > /dev/null 2>&1 &`);
    await untilCounting(session);
    await session.exec("echo old | tee /shared/file > /srv/file");

    const checkpoint = await session.checkpoint();
    await untilCounting(session);
    await session.exec("echo new | tee /shared/file > /srv/file");
    await session.restore(checkpoint);
    await untilCounting(session);
    const [fork] = (await checkpoint.fork(1)) as [Session];
    await untilCounting(fork);

    expect(await out(session, "cat /shared/file /srv/file")).toBe("new\nold");
    await fork.remove({ force: true });
    await session.remove({ force: true });
  });

  test("is marked as not captured wherever it is shown", async () => {
    const args = ["new", "marked", "--net", "none", "--bind", `${sharedDir}:/shared:ro`];
    const made = await runCommand(own.stateDir, args);
    const session = await own.waypoint.session("marked");
    const checkpoint = await session.checkpoint();

    const listed = await runCommand(own.stateDir, ["ls"]);
    const shown = await runCommand(own.stateDir, ["show", checkpoint.id]);

    const line = `/shared is ${sharedDir} of the host (read-only, not captured)`;
    for (const { stdout } of [made, listed, shown]) expect(stdout).toContain(line);
    const binds = [{ source: sharedDir, target: "/shared", readOnly: true }];
    expect((await session.info()).binds).toEqual(binds);
    expect((await checkpoint.show()).binds).toEqual(binds);
    await session.remove({ force: true });
  });

  test("whose source is gone stops restore, undo and fork, unless told to go on", async () => {
    const session = await bindShared();
    const checkpoint = await session.checkpoint();
    await session.restore(checkpoint);
    rmSync(sharedDir, { recursive: true });
    // What the restore replaced goes after the answer.
    const { instances } = expectedHoldings(own.stateDir);
    const before = await eventually(
      "the old instance to go",
      () => readWholeState(own),
      (state) => state.instances.length === instances.length,
    );

    const refused = await Promise.allSettled([
      session.restore(checkpoint),
      session.undo(),
      checkpoint.fork(1),
    ]);
    await expect(session.checkpoint()).rejects.toMatchObject({ code: "CRIU_DUMP_FAILED" });
    // Its processes cannot be captured while the removed directory is bound, and are not given up.
    await expect(session.restore(checkpoint, { withoutBinds: true })).rejects.toMatchObject({
      code: "CRIU_DUMP_FAILED",
      hint: expect.stringContaining("--lose-processes"),
    });
    const after = await readWholeState(own);
    const choice = { withoutBinds: true, loseProcesses: true };
    const restored = await session.restore(checkpoint, choice);
    const [fork] = (await checkpoint.fork(1, { withoutBinds: true })) as [Session];

    expect(
      refused.map(
        (outcome) =>
          outcome.status === "rejected" && hasCode(outcome.reason, "BIND_SOURCE_MISSING"),
      ),
    ).toEqual([true, true, true]);
    // The stand-in for a directory that is gone stays, once there was one.
    const mounts = after.mounts.filter((mountPoint) => mountPoint !== "/run/waypoint/empty");
    expect({ ...after, mounts }).toEqual(before);
    expect(restored.bindsLeftOut).toEqual([
      { source: sharedDir, target: "/shared", readOnly: false },
    ]);
    await (await session.checkpoint()).fork(1, { name: "again", withoutBinds: true });
    for (const where of [session, fork, await own.waypoint.session("again")]) {
      const { stdout, stderr } = await where.exec("ls -A /shared; touch /shared/x", {
        shell: "own",
      });
      expect([stdout, stderr]).toEqual(["", expect.stringContaining("Read-only file system")]);
    }
    mkdirSync(sharedDir);
    writeFileSync(path.join(sharedDir, "back"), "");
    const undone = await session.undo();
    expect(undone.bindsLeftOut).toEqual([]);
    expect(await out(session, "ls /shared")).toBe("back");
    for (const name of ["again", fork.name, session.id]) {
      await (await own.waypoint.session(name)).remove({ force: true });
    }
  });

  test("can be where a session starts, though the base does not have it", async () => {
    const binds = [{ source: sharedDir, target: "/only/bound" }];
    mkdirSync(path.join(sharedDir, "below"), { recursive: true });

    const session = await own.waypoint.new({ net: "none", binds, cwd: "/only/bound/below" });
    const missing = own.waypoint.new({ net: "none", binds, cwd: "/only/bound/nothing" });

    await expect(missing).rejects.toMatchObject({ code: "USAGE_INVALID" });
    expect(await out(session, "pwd")).toBe("/only/bound/below");
    await session.remove({ force: true });
  });

  test("never lets a session's link lead a mount out of its root", async () => {
    const binds = [{ source: sharedDir, target: "/own/place" }];
    const session = await own.waypoint.new({ net: "none", binds });
    await session.exec(`mv /own /elsewhere; ln -s ${hostDir} /own; mkdir ${hostDir}/place`);
    const files = await session.checkpoint({ filesOnly: true });
    const before = await readWholeState(own);

    await expect(files.fork(1)).rejects.toMatchObject({ code: "SANDBOX_FAILED" });
    await expect(session.checkpoint()).rejects.toMatchObject({ code: "CRIU_DUMP_FAILED" });

    expect(await readWholeState(own)).toEqual(before);
    expect(await out(session, "ls -d /elsewhere/place")).toBe("/elsewhere/place");
    await session.remove({ force: true });
  });
});

describe("a bind that cannot be", () => {
  const refused: readonly (readonly [string, () => string[]])[] = [
    ["a source that is not there", () => [`${hostDir}/nothing:/a`]],
    ["a source that is a file", () => [`${hostDir}/file:/a`]],
    ["a source in the kernel", () => ["/proc:/a"]],
    ["a source in the daemon's own /run", () => ["/run:/a"]],
    ["a source in Waypoint's state", () => [`${own.stateDir}/store:/a`]],
    ["a relative target", () => [`${sharedDir}:a`]],
    ["the root", () => [`${sharedDir}:/`]],
    ["the root by another name", () => [`${sharedDir}:/a/../..`]],
    ["the place of init", () => [`${sharedDir}:/run/waypoint`]],
    ["the place of init by a link", () => [`${sharedDir}:/var/run/waypoint/x`]],
    ["a directory above init", () => [`${sharedDir}:/run`]],
    ["the processes", () => [`${sharedDir}:/proc/sys`]],
    ["the devices", () => [`${sharedDir}:/dev`]],
    ["a file", () => [`${sharedDir}:/etc/passwd`]],
    ["one target twice", () => [`${sharedDir}:/a`, `${hostDir}:/a/`]],
    ["one target in another", () => [`${hostDir}:/a`, `${sharedDir}:/a/b`]],
    ["characters that CRIU cannot be told", () => [`${sharedDir}:/a]`]],
  ];

  test.each(refused)("%s is refused, and nothing is left", async (_what, binds) => {
    const before = await readWholeState(own);

    const words = binds().flatMap((bind) => ["--bind", bind]);
    const { error, exitCode } = await failureOf(own, ["new", "x", ...words]);

    expect({ code: error.code, exitCode }).toEqual({ code: "BIND_INVALID", exitCode: 2 });
    expect(error.hint).toMatch(/^[^\n]+\.$/);
    expect(await readWholeState(own)).toEqual(before);
  });

  test.each(["/only-one", ":/a", "/a:", "/a:/b:rx", "/a:/b:ro:more"])(
    "%s is not understood",
    async (text) => {
      const { error } = await failureOf(own, ["new", "x", "--bind", text]);

      expect(error.code).toBe("USAGE_INVALID");
    },
  );
});
