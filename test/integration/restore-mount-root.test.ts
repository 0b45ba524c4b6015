import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stateLayout } from "../../src/base/index.ts";
import type { Checkpoint, Session } from "../../src/index.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

/** Far more than the removal of a directory at the right moment takes. */
const WAIT_MS = 90_000;
/** Removes the first directory in which CRIU is about to build mounts, and nothing after it. */
const REMOVE_ONE = `import os
print("watching", flush=True)
while True:
    for name in os.listdir("/run"):
        if not name.startswith(".criu.mntns."): continue
        try: os.rmdir("/run/" + name)
        except OSError: continue
        raise SystemExit`;

const title = "a restore needs no directory that others can remove";
inPrivateNamespace(import.meta.filename, { title, network: false }, () => {
  let own: TestWaypoint;
  let session: Session;
  let checkpoint: Checkpoint;

  beforeAll(async () => {
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", "/mnt"]);
    own = await openTestWaypoint({ stateDir: "/mnt/state" });
    session = await own.waypoint.new({ net: "none" });
    await session.exec("MARK=kept");
    checkpoint = await session.checkpoint();
  });
  afterAll(() => own?.[Symbol.asyncDispose]());

  /** Whether a restore has failed for that and was tried again. */
  function isTriedAgain(): boolean {
    const log = readFileSync(stateLayout(own.stateDir).logPath, "utf8").split("\n");
    const again = log.filter((line) => line.includes('"event":"restoring again"'));
    return again.some((line) => line.includes('"reason":"mount_root_gone"'));
  }

  test("its mounts are built where /tmp cannot be written", async () => {
    const readOnly = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", "/tmp"];
    execFileSync("nsenter", ["--mount=/mnt/state/ns/mnt", ...readOnly]);

    const [fork] = await own.waypoint.fork(checkpoint.id);

    expect((await fork?.exec("echo on"))?.stdout).toBe("on\n");
    await fork?.remove({ force: true });
  });

  test("one whose directory is removed all the same is tried once more", async () => {
    const inside = ["--mount=/mnt/state/ns/mnt", "python3", "-c", REMOVE_ONE];
    const deadlineMs = performance.now() + WAIT_MS;

    // It removes the directory before CRIU has mounted something there, or too late.
    while (!isTriedAgain() && performance.now() < deadlineMs) {
      const watcher = spawn("nsenter", inside, { stdio: ["ignore", "pipe", "inherit"] });
      await once(watcher.stdout, "data");
      const [fork] = await own.waypoint.fork(checkpoint.id);
      expect((await fork?.exec("echo $MARK"))?.stdout).toBe("kept\n");
      await fork?.remove({ force: true });
      watcher.kill();
    }

    expect(isTriedAgain()).toBe(true);
  }, 120_000);
});
