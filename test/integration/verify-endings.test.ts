import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { hasCode, type Session } from "../../src/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { finished, startCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { expectedHoldings, holdingsOf } from "../support/holdings.ts";
import { untilReady } from "../support/standby.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Long enough that no test reaches its end. */
const ENDLESS = "sleep 100000";

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web" });
});

afterEach(async () => {
  const pid = await own.daemonPid();
  await eventually(
    "the forks to be gone",
    () => holdingsOf(own.stateDir, pid),
    (held) => {
      const expected = expectedHoldings(own.stateDir);
      const kinds = ["mounts", "networks", "inits", "instances", "checkpoints"] as const;
      return kinds.every((kind) => JSON.stringify(held[kind]) === JSON.stringify(expected[kind]));
    },
  );
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Waits until so many instances run beside those of sessions. */
async function untilForked(count: number): Promise<void> {
  const pid = await own.daemonPid();
  await eventually(
    `${count} forks`,
    () => holdingsOf(own.stateDir, pid).inits.length,
    (inits) => inits === expectedHoldings(own.stateDir).inits.length + count,
  );
}

test("a daemon killed in the middle leaves no fork, and the checkpoint not verified", async () => {
  const child = startCommand(own.stateDir, [
    "checkpoint",
    "web",
    "--name",
    "cut",
    "--verify",
    ENDLESS,
  ]);
  const ended = finished(child);
  await untilForked(1);

  await killDaemon(await own.daemonPid());
  const { stdout, exitCode } = await ended;

  expect(stdout).toMatch(/^Captured web as \w+ \(cut\)/);
  expect(exitCode).toBe(20);
  expect(await own.waypoint.show("cut")).toMatchObject({ verification: null, verifications: [] });
  expect((await session.exec("echo lives")).stdout).toBe("lives\n");
});

test("a caller who leaves ends the fork; nothing is recorded", async () => {
  const checkpoint = await session.checkpoint();
  const leaving = new AbortController();
  const outcome = checkpoint.verify(ENDLESS, { signal: leaving.signal });
  const settled = outcome.catch((error: unknown) => error);
  await untilForked(1);

  leaving.abort();

  expect(hasCode(await settled, "CANCELLED")).toBe(true);
  expect((await checkpoint.show()).verification).toBeNull();
});

test("a daemon that is told to stop does not wait for the command", async () => {
  const checkpoint = await session.checkpoint();
  const settled = checkpoint.verify(ENDLESS).catch((error: unknown) => error);
  await untilForked(1);
  const pid = await own.daemonPid();

  await callOperation(own.stateDir, "daemon.stop", {});

  expect(await settled).toBeInstanceOf(Error);
  await eventually(
    "the end of the daemon",
    () => existsSync(`/proc/${pid}`),
    (isThere) => !isThere,
  );
  expect((await checkpoint.show()).verification).toBeNull();
});

test("a checkpoint that is removed meanwhile takes its verification with it", async () => {
  const other = await own.waypoint.new({ name: "going" });
  const checkpoint = await other.checkpoint({ name: "gone" });
  const settled = checkpoint.verify(ENDLESS).catch((error: unknown) => error);
  await untilForked(1);

  await other.remove({ force: true });

  expect(hasCode(await settled, "CHECKPOINT_NOT_FOUND")).toBe(true);
  const later = checkpoint.verify("true").catch((error: unknown) => error);
  expect(hasCode(await later, "CHECKPOINT_NOT_FOUND")).toBe(true);
});

test("a command that ends its whole fork has failed; the session has not", async () => {
  const checkpoint = await session.checkpoint();
  const { pid } = await session.info();

  const { exitCode, timedOut } = await checkpoint.verify("kill -9 -1; kill -9 $$; sleep 1");

  expect({ exitCode, timedOut }).toEqual({ exitCode: 137, timedOut: false });
  expect(await session.info()).toMatchObject({ pid, state: "running" });
});

test("a session on the host's network is refused before anything is captured", async () => {
  const host = await own.waypoint.new({ name: "host", net: "host" });
  const before = (await host.log()).checkpoints.length;

  const refused = await host.checkpoint({ verify: ["true"] }).catch((error: unknown) => error);
  const checkpoint = await host.checkpoint();
  const later = await checkpoint.verify("true").catch((error: unknown) => error);

  expect(hasCode(refused, "FORK_REFUSED")).toBe(true);
  expect(hasCode(later, "FORK_REFUSED")).toBe(true);
  expect((await host.log()).checkpoints).toHaveLength(before + 1);
  await host.remove({ force: true });
});

test("what is written to a bound directory stays in the fork", async () => {
  const hostDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-verify-"));
  mkdirSync(path.join(hostDir, "sub"));
  writeFileSync(path.join(hostDir, "file"), "before");
  const binds = [{ source: hostDir, target: "/shared" }];
  const bound = await own.waypoint.new({ name: "bound", binds });
  await bound.exec("cd /shared/sub; exec 5>>/shared/file");

  const checkpoint = await bound.checkpoint();
  const line =
    "pwd; cat /shared/file; echo more >&5; echo new > /shared/new; rm -r /shared/sub; ls /shared";
  const { output } = await checkpoint.verify(line);

  expect(output).toBe("/shared/sub\nbeforefile\nnew\n");
  expect(readFileSync(path.join(hostDir, "file"), "utf8")).toBe("before");
  expect(readdirSync(hostDir).toSorted()).toEqual(["file", "sub"]);
  await bound.remove({ force: true });
  rmSync(hostDir, { recursive: true });
});

test("the standby of the session is still there afterwards", async () => {
  await session.standby("head");
  const checkpoint = await session.checkpoint();
  await untilReady(session, checkpoint);
  const pid = await own.daemonPid();
  const before = holdingsOf(own.stateDir, pid).inits;

  await checkpoint.verify("true");

  expect((await session.standby()).ready).toContain(checkpoint.id);
  expect(holdingsOf(own.stateDir, pid).inits).toEqual(before);
  await session.standby("off");
});

test("verifications outlive the loss of the catalog", async () => {
  const checkpoint = await session.checkpoint({ name: "kept" });
  await checkpoint.verify("echo first; exit 2");
  await checkpoint.verify("echo second");
  const before = (await checkpoint.show()).verifications;
  await killDaemon(await own.daemonPid());
  for (const ending of ["", "-wal", "-shm"]) {
    rmSync(path.join(own.stateDir, `catalog.sqlite${ending}`), { force: true });
  }

  const { verifications } = await own.waypoint.show("kept");

  expect(verifications).toEqual(before);
  expect(verifications.map(({ command }) => command)).toEqual([
    "echo second",
    "echo first; exit 2",
  ]);
});
