import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { openTestWaypoint } from "../support/test-waypoint.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

const title = "a restore needs no directory that others can remove";
inPrivateNamespace(import.meta.filename, { title, network: false }, () => {
  test("its mounts are built where /tmp cannot be written", async () => {
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", "/mnt"]);
    await using own = await openTestWaypoint({ stateDir: "/mnt/state" });
    const session = await own.waypoint.new({ net: "none" });
    const checkpoint = await session.checkpoint();
    const readOnly = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", "/tmp"];
    execFileSync("nsenter", ["--mount=/mnt/state/ns/mnt", ...readOnly]);

    const [fork] = await own.waypoint.fork(checkpoint.id);

    expect((await fork?.exec("echo on"))?.stdout).toBe("on\n");
  });
});
