import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import os from "node:os";
import path from "node:path";
import { buffer, text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stateLayout } from "../../src/base/index.ts";
import {
  encodeFrame,
  FRAME_KIND,
  FrameDecoder,
  WAYPOINT_VERSION,
} from "../../src/shared/protocol/index.ts";
import { failureOf } from "../support/failing-command.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { readWholeState } from "../support/whole-state.ts";

const DAEMON_PATH = path.resolve(import.meta.dirname, "../../dist/daemon.mjs");
/** A user without any rights, as most machines have one. */
const AS_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  await own.waypoint.new({ name: "web" });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

/** Sends bytes to the daemon and returns the frames of its answer, as text. */
async function send(bytes: Uint8Array): Promise<{ kind: number; text: string }[]> {
  const socket = connect(stateLayout(own.stateDir).socketPath);
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.end(bytes);
  const frames = new FrameDecoder().push(await buffer(socket));
  return frames.map(({ kind, payload }) => ({ kind, text: Buffer.from(payload).toString() }));
}

async function request(version: string, operation: string, input: unknown) {
  const message = JSON.stringify({ version, operation, input });
  const frames = await send(encodeFrame(FRAME_KIND.request, message));
  return frames.map((frame) => ({ kind: frame.kind, message: JSON.parse(frame.text) }));
}

describe("a daemon of another version", () => {
  test("refuses the operation, says both versions and what to do", async () => {
    const before = await readWholeState(own);

    const answer = await request("0.0.0-other", "checkpoint", { session: "web" });

    expect(answer).toEqual([
      {
        kind: FRAME_KIND.error,
        message: {
          code: "DAEMON_VERSION_MISMATCH",
          message: `The daemon is version ${WAYPOINT_VERSION}, this command is version 0.0.0-other.`,
          hint: expect.stringContaining("`waypoint daemon stop`"),
          detail: { daemon: WAYPOINT_VERSION, client: "0.0.0-other" },
        },
      },
    ]);
    expect(await readWholeState(own)).toEqual(before);
  });

  test("can be looked at, so that it can be ended", async () => {
    const answer = await request("0.0.0-other", "daemon.status", {});

    expect(answer).toMatchObject([
      { kind: FRAME_KIND.result, message: { version: WAYPOINT_VERSION } },
    ]);
  });
});

describe("a client that talks nonsense", () => {
  test("is told which operations and inputs there are not", async () => {
    const answers = [
      await request(WAYPOINT_VERSION, "destroy", {}),
      await request(WAYPOINT_VERSION, "toString", {}),
      await request(WAYPOINT_VERSION, "checkpoint", { session: "web", colour: "red" }),
      await request(WAYPOINT_VERSION, "checkpoint", null),
    ];

    expect(answers.flat()).toMatchObject(
      answers.map(() => ({ kind: FRAME_KIND.error, message: { code: "USAGE_INVALID" } })),
    );
  });

  test("ends its own connection and no other", async () => {
    const tooLong = Buffer.from([0xff, 0xff, 0xff, 0x7f, FRAME_KIND.request]);
    const noJson = encodeFrame(FRAME_KIND.request, "{");
    const halfFrame = encodeFrame(FRAME_KIND.request, "{}").subarray(0, 6);

    const answers = [await send(tooLong), await send(noJson), await send(halfFrame)];

    expect(answers).toEqual([[], [], []]);
    expect(await own.waypoint.sessions()).toHaveLength(1);
  });
});

describe("two daemons on one directory", () => {
  test("the second gives up, and the first serves on", async () => {
    const firstPid = await own.daemonPid();
    const second = spawn(process.execPath, [DAEMON_PATH], {
      env: { ...process.env, WAYPOINT_DIR: own.stateDir },
      stdio: ["ignore", "ignore", "pipe", "pipe"],
    });
    const [answer, stderr, [exitCode]] = await Promise.all([
      text(second.stdio[3] as NodeJS.ReadableStream),
      text(second.stderr as NodeJS.ReadableStream),
      once(second, "close"),
    ]);

    expect(JSON.parse(answer)).toMatchObject({
      error: {
        code: "STATE_DIR_BUSY",
        message: `Another daemon runs on ${own.stateDir}.`,
        hint: expect.stringMatching(/\.$/),
      },
    });
    expect(stderr).toContain("Another daemon runs");
    expect(exitCode).toBe(20);
    expect(await own.daemonPid()).toBe(firstPid);
    expect(await own.waypoint.sessions()).toMatchObject([{ name: "web", state: "running" }]);
  });
});

describe("missing rights", () => {
  test("another user may not use the daemon", async () => {
    const { error, exitCode } = await failureOf(own, ["ls"], AS_NOBODY);

    expect({ code: error.code, exitCode }).toEqual({ code: "PRIVILEGE_MISSING", exitCode: 20 });
    expect(error.message).toContain("This user may not use the Waypoint daemon");
    expect(error.hint).toBe("Run the command as root.");
  });

  test("another user may not start one, and nothing is made", async () => {
    const stateDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-nobody-"));
    const before = statSync(stateDir).mtimeMs;

    const { error, exitCode } = await failureOf({ stateDir }, ["new", "mine"], AS_NOBODY);

    expect({ code: error.code, exitCode }).toEqual({ code: "PRIVILEGE_MISSING", exitCode: 20 });
    expect(error.hint).toMatch(/root/);
    expect(statSync(stateDir).mtimeMs).toBe(before);
    rmSync(stateDir, { recursive: true });
  });

  test("neither the socket nor the log nor the store is open to others", () => {
    const { socketPath, logPath } = stateLayout(own.stateDir);

    const modes = [own.stateDir, socketPath, logPath].map((file) => statSync(file).mode & 0o077);

    expect(modes).toEqual([0, 0, 0]);
    expect(readFileSync(logPath, "utf8")).toContain("daemon ready");
  });
});
