import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { startScriptedDaemon } from "../../../test/support/scripted-daemon.ts";
import { makeStateDir } from "./make-state-dir.ts";
import { requireNode } from "./require-arguments.ts";
import { Session } from "./session.ts";
import { resolveStateDir } from "./state-dir.ts";
import { Waypoint } from "./waypoint.ts";

/** What programs without types hand over. */
const WRONG = { nothing: undefined, none: null, empty: "", number: 5 } as unknown as Record<
  "nothing" | "none" | "empty" | "number",
  never
>;

test("a state directory without a name is refused and never becomes the default one", async () => {
  const refused = expect.objectContaining({ code: "USAGE_INVALID" });

  expect(() => resolveStateDir("")).toThrow(refused);
  await expect(Waypoint.open({ stateDir: "" })).rejects.toEqual(refused);
  await expect(Waypoint.open({ stateDir: 5 as never })).rejects.toEqual(refused);
});

test("an empty WAYPOINT_DIR counts as none", () => {
  vi.stubEnv("WAYPOINT_DIR", "");

  expect(resolveStateDir()).toBe("/var/lib/waypoint");
  vi.unstubAllEnvs();
});

test("a state directory is made with what is missing above it, for its owner alone", () => {
  const root = mkdtempSync(path.join(os.tmpdir(), "waypoint-make-"));

  makeStateDir(path.join(root, "a", "b"));
  makeStateDir(path.join(root, "a", "b"));

  expect(statSync(path.join(root, "a")).mode & 0o777).toBe(0o700);
  expect(existsSync(path.join(root, "a", "b"))).toBe(true);
  rmSync(root, { recursive: true });
});

test.each(["/proc/foo", "/proc/foo/bar", "/dev/null/state"])("%s is refused at once", (dir) => {
  expect(() => makeStateDir(dir)).toThrow(expect.objectContaining({ code: "USAGE_INVALID" }));
});

test("a Node that is too old for the SDK is named", () => {
  for (const version of ["18.20.8", "20.3.1"]) {
    expect(() => requireNode(version)).toThrow(
      expect.objectContaining({
        code: "HOST_UNSUPPORTED",
        message: expect.stringContaining(`Node 20.4 or newer; this program runs on ${version}.`),
      }),
    );
  }
  for (const version of ["20.4.0", "22.0.0", process.versions.node]) {
    expect(() => requireNode(version)).not.toThrow();
  }
});

test("arguments that nothing can be done with are the caller's mistake", async () => {
  await using daemon = await startScriptedDaemon(({ send }) => send("result", { sessions: [] }));
  const waypoint = await Waypoint.open({ stateDir: daemon.stateDir });
  const session = new Session(daemon.stateDir, { id: "abc1", name: "web" }, true);
  const { nothing, none, empty, number } = WRONG;
  const calls = [
    () => Waypoint.open(none),
    () => waypoint.new(none),
    () => waypoint.new(number),
    () => waypoint.new({ signal: number }),
    () => waypoint.session(nothing),
    () => waypoint.session(empty),
    () => waypoint.sessions(none),
    () => waypoint.checkpoint(nothing),
    () => waypoint.show(nothing),
    () => waypoint.fork(none),
    () => session.exec(nothing),
    () => session.exec([]),
    () => session.exec([number as never]),
    () => session.exec("true", none),
    () => session.exec("true", { input: number }),
    () => session.restore(nothing),
    () => session.undo(none),
    () => session.attach(none),
  ];

  for (const call of calls) {
    await expect(call(), String(call)).rejects.toMatchObject({
      code: "USAGE_INVALID",
      message: expect.stringMatching(/^[A-Z].*\.$/),
    });
  }
});
