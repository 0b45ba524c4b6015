import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

const title = "state directories are hidden from sessions under every name";
inPrivateNamespace(import.meta.filename, { title, network: false }, () => {
  let top: string;
  let own: TestWaypoint;
  let other: TestWaypoint;

  beforeAll(async () => {
    // The second name comes from a link, the third from a mount of the directory above.
    top = mkdtempSync(path.join(os.tmpdir(), "waypoint-hidden-"));
    for (const name of ["real", "bound", "free"]) mkdirSync(path.join(top, name));
    symlinkSync("real", path.join(top, "link"));
    execFileSync("mount", ["--bind", path.join(top, "real"), path.join(top, "bound")]);
    other = await openTestWaypoint();
    own = await openTestWaypoint({ stateDir: path.join(top, "link", "state") });
    // Nothing of the store is below it, and it is hidden all the same.
    mkdirSync(path.join(top, "real", "state", "failed"), { recursive: true });
  });
  afterAll(async () => {
    await own[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
    execFileSync("umount", [path.join(top, "bound")]);
    rmSync(top, { recursive: true });
  });

  test("a session finds nothing in its own, nor in another daemon's, not after a restore", async () => {
    const session = await own.waypoint.new({ net: "none" });
    const names = ["real/state", "link/state", "bound/state"].map((name) => path.join(top, name));
    const list = `ls -A ${[...names, other.stateDir].join(" ")} | grep -v -e : -e '^$'; readlink ${top}/link`;
    const seen = async () => (await session.exec(list)).stdout.trim();

    expect(await seen()).toBe("real");
    const checkpoint = await session.checkpoint();
    await session.restore(checkpoint.id);
    expect(await seen()).toBe("real");
  });

  test.each(["real", "link", "bound", "real/state", "bound/state/failed", "../.."])(
    "a bind of %s is refused, since it shows one",
    async (name) => {
      const binds = [{ source: path.join(top, name), target: "/shared", readOnly: false }];
      await expect(own.waypoint.new({ net: "none", binds })).rejects.toMatchObject({
        code: "BIND_INVALID",
        message: expect.stringMatching(/cannot be shared|shows/),
      });
    },
  );

  test("a bind whose source became a link to one is not mounted again", async () => {
    const source = path.join(top, "free");
    const binds = [{ source, target: "/shared", readOnly: false }];
    const session = await own.waypoint.new({ net: "none", binds });
    const checkpoint = await session.checkpoint();
    renameSync(source, path.join(top, "moved"));
    symlinkSync("real", source);

    await expect(own.waypoint.fork(checkpoint.id)).rejects.toMatchObject({ code: "BIND_INVALID" });
    expect((await session.exec("echo on")).stdout).toBe("on\n");
  });

  test("no session stands on a base in one", async () => {
    const base = path.join(top, "bound", "state", "failed");
    mkdirSync(path.join(base, "bin"), { recursive: true });
    execFileSync("cp", ["/bin/bash", path.join(base, "bin")]);
    await expect(own.waypoint.new({ net: "none", base })).rejects.toMatchObject({
      code: "BASE_INVALID",
      message: expect.stringContaining("lies in Waypoint's own state"),
    });
  });
});
