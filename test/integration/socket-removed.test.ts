import { rmSync, statSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { stateLayout } from "../../src/base/index.ts";
import { runCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { openTestWaypoint } from "../support/test-waypoint.ts";

test("a daemon whose socket is removed or replaced is found again", async () => {
  await using own = await openTestWaypoint();
  const session = await own.waypoint.new({ name: "web" });
  const pid = await own.daemonPid();
  const { socketPath } = stateLayout(own.stateDir);

  for (const spoil of [() => {}, () => writeFileSync(socketPath, "")]) {
    rmSync(socketPath);
    spoil();
    // A client that comes before the daemon has looked begins to start another one.
    const told = await runCommand(own.stateDir, ["daemon", "status", "--json"]);
    const known = told.exitCode === 0 ? told : await runCommand(own.stateDir, ["ls", "--json"]);
    expect(known.exitCode).toBe(0);
    expect(await own.daemonPid()).toBe(pid);
    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
    expect((await session.exec("echo here")).stdout).toBe("here\n");
  }
});

test("a daemon that hangs without a socket is named within seconds, and its end helps", async () => {
  await using own = await openTestWaypoint();
  const pid = await own.daemonPid();
  process.kill(pid, "SIGSTOP");
  rmSync(stateLayout(own.stateDir).socketPath);
  const startedAtMs = performance.now();

  const told = await runCommand(own.stateDir, ["ls"]);

  expect(told).toMatchObject({ exitCode: 20 });
  expect(told.stderr).toMatch(/neither answers nor ends/);
  // It took 43 seconds once.
  expect(performance.now() - startedAtMs).toBeLessThan(35_000);
  await killDaemon(pid);
  expect(await runCommand(own.stateDir, ["ls"])).toMatchObject({ exitCode: 0 });
}, 120_000);
