import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { startScriptedDaemon } from "../../../test/support/scripted-daemon.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { FRAME_KIND, WAYPOINT_VERSION } from "../../shared/protocol/index.ts";
import { cancelled, withAbortCause } from "./cancelled.ts";
import { callOperation, collectOutput, connectDaemon, openStream, Waypoint } from "./index.ts";

const EXEC_RESULT = {
  exitCode: 0,
  signal: null,
  timedOut: false,
  durationMs: 1,
  stdout: "",
  stderr: "",
  truncated: false,
};

test("a call sends version, operation and input, and returns the result", async () => {
  await using daemon = await startScriptedDaemon(({ send }) => send("result", { sessions: [] }));

  const result = await callOperation(daemon.stateDir, "ls", {});

  expect(result).toEqual({ sessions: [] });
  expect(daemon.requests).toEqual([
    {
      ...{ version: WAYPOINT_VERSION, operation: "ls", input: {} },
      client: expect.objectContaining({ surface: "sdk" }),
    },
  ]);
});

test("an error frame becomes the error that the daemon threw", async () => {
  const wire = {
    code: "SESSION_WRONG_STATE",
    message: "Busy.",
    hint: "Wait.",
    detail: { by: "x" },
  };
  await using daemon = await startScriptedDaemon(({ send }) => send("error", wire));

  const call = callOperation(daemon.stateDir, "undo", { session: "web" });

  await expect(call).rejects.toMatchObject(wire);
});

test("notices reach the caller before the result", async () => {
  const notices: string[] = [];
  await using daemon = await startScriptedDaemon(({ send }) => {
    send("notice", { notice: "waiting" });
    send("result", { sessions: [] });
  });

  await callOperation(daemon.stateDir, "ls", {}, { onNotice: (text) => notices.push(text) });

  expect(notices).toEqual(["waiting"]);
});

test("a daemon that dies in the middle is DAEMON_UNREACHABLE, and the hint says what to do", async () => {
  await using daemon = await startScriptedDaemon(({ send, socket }) => {
    send("stdout", Buffer.from("half"));
    socket.end();
  });
  const stream = await openStream(daemon.stateDir, "exec", { session: "web", command: ["x"] });

  const collected = collectOutput(stream);

  await expect(collected).rejects.toMatchObject({
    code: "DAEMON_UNREACHABLE",
    hint: expect.stringContaining("sessions live on"),
  });
});

test("a request that nobody has read before the connection was reset is sent once more", async () => {
  let resets = 1;
  const isRead = () => resets-- <= 0;
  await using daemon = await startScriptedDaemon(({ send }) => send("result", {}), isRead);

  const call = callOperation(daemon.stateDir, "ls", {});

  await expect(call).resolves.toEqual({});
  expect(daemon.requests).toHaveLength(1);
});

test("a request is sent twice at most, and not again when more was sent after it", async () => {
  await using daemon = await startScriptedDaemon(
    () => {},
    () => false,
  );
  const stream = await openStream(daemon.stateDir, "exec", { session: "web", command: ["cat"] });
  await stream.write(Buffer.from("text"));

  await expect(collectOutput(stream)).rejects.toMatchObject({ code: "DAEMON_UNREACHABLE" });
  expect(daemon.connections()).toBe(1);
  const call = callOperation(daemon.stateDir, "ls", {});
  await expect(call).rejects.toMatchObject({ code: "DAEMON_UNREACHABLE" });
  expect(daemon.connections()).toBe(3);
});

test("a request is not sent again for somebody who has left before its connection was reset", async () => {
  await using daemon = await startScriptedDaemon(
    () => {},
    () => false,
  );
  const stream = await openStream(daemon.stateDir, "exec", { session: "web", command: ["rm"] });
  stream.close();

  await expect(collectOutput(stream)).rejects.toMatchObject({ code: "DAEMON_UNREACHABLE" });
  expect(daemon.connections()).toBe(1);
});

test("input that comes while a request is sent again follows it, or nothing is sent", async () => {
  const inputs: string[] = [];
  let stream: Awaited<ReturnType<typeof openStream<"exec">>> | undefined;
  await using daemon = await startScriptedDaemon(
    async ({ nextFrame, send }) => {
      inputs.push(Buffer.from((await nextFrame()).payload).toString());
      send("result", EXEC_RESULT);
    },
    () => {
      if (daemon.connections() > 1) void stream?.write(Buffer.from("text"));
      return daemon.connections() > 1;
    },
  );
  stream = await openStream(daemon.stateDir, "exec", { session: "web", command: ["cat"] });

  const code = await collectOutput(stream).then(
    () => "done",
    (error: WaypointError) => error.code,
  );

  const isSent = daemon.requests.length > 0;
  expect({ code, inputs }).toEqual(
    isSent ? { code: "done", inputs: ["text"] } : { code: "DAEMON_UNREACHABLE", inputs: [] },
  );
});

test("an aborted signal ends a call with CANCELLED", async () => {
  const leaving = new AbortController();
  await using daemon = await startScriptedDaemon(() => leaving.abort());

  const call = callOperation(daemon.stateDir, "ls", {}, { signal: leaving.signal });

  await expect(call).rejects.toMatchObject({ code: "CANCELLED", cause: { name: "AbortError" } });
});

test("the cause of a call that was given up is an AbortError, and the reason is its cause", () => {
  const reason = new Error("the user left");
  const { cause } = cancelled("fork", AbortSignal.abort(reason));
  const told = new WaypointError("CANCELLED", "It was cancelled.", { hint: "Again." });

  expect(cause).toMatchObject({ name: "AbortError", cause: reason });
  expect(withAbortCause(told, AbortSignal.abort())).toMatchObject({
    ...{ message: "It was cancelled.", hint: "Again.", cause: { name: "AbortError" } },
  });
  expect(withAbortCause(told, new AbortController().signal)).toBe(told);
});

test("without a daemon and without starting one, the socket is unreachable", async () => {
  const stateDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-none-"));

  const connecting = connectDaemon(stateDir, { start: false });

  await expect(connecting).rejects.toMatchObject({ code: "DAEMON_UNREACHABLE" });
  rmSync(stateDir, { recursive: true });
});

test("a state directory too deep for a socket is refused before anything is started", async () => {
  const connecting = connectDaemon(`/tmp/${"deep/".repeat(30)}`);

  await expect(connecting).rejects.toMatchObject({ code: "USAGE_INVALID" });
});

test("a state directory that cannot be made is the caller's mistake", async () => {
  const connecting = connectDaemon("/dev/null/state");

  await expect(connecting).rejects.toMatchObject({ code: "USAGE_INVALID" });
});

test("whoever is not root is told so at once, and nothing is started", async () => {
  const user = process as Required<Pick<NodeJS.Process, "geteuid">>;
  const asUser = vi.spyOn(user, "geteuid").mockReturnValue(1000);

  const connecting = connectDaemon("/nowhere/to/be/found");

  await expect(connecting).rejects.toMatchObject({ code: "PRIVILEGE_MISSING" });
  asUser.mockRestore();
});

test("input, its end and control messages arrive in the order in which they were sent", async () => {
  const kinds: number[] = [];
  await using daemon = await startScriptedDaemon(async ({ nextFrame, send }) => {
    for (let count = 0; count < 3; count += 1) kinds.push((await nextFrame()).kind);
    send("result", EXEC_RESULT);
  });
  const stream = await openStream(daemon.stateDir, "exec", { session: "web", command: ["cat"] });

  await stream.write(Buffer.from("text"));
  stream.control({ control: "signal", signal: 2 });
  stream.endInput();
  await collectOutput(stream);

  expect(kinds).toEqual([FRAME_KIND.input, FRAME_KIND.control, FRAME_KIND.input]);
});

test("kept output is cut at its limit, and not inside a character", async () => {
  await using daemon = await startScriptedDaemon(({ send }) => {
    send("stdout", Buffer.from("aaa€"));
    send("stderr", Buffer.from("ok"));
    send("result", EXEC_RESULT);
  });
  const stream = await openStream(daemon.stateDir, "exec", { session: "web", command: ["x"] });

  const result = await collectOutput(stream, { keepOutputBytes: 4 });

  expect(result).toMatchObject({ stdout: "aaa", stderr: "ok", truncated: true });
});

test("a slow reader holds the daemon back", async () => {
  const pieces = 400;
  let sent = 0;
  await using daemon = await startScriptedDaemon(async ({ socket, send }) => {
    for (; sent < pieces; sent += 1) {
      send("stdout", Buffer.alloc(64 * 1024));
      if (socket.writableNeedDrain) await new Promise((done) => socket.once("drain", done));
    }
    send("result", EXEC_RESULT);
  });
  const stream = await openStream(daemon.stateDir, "exec", { session: "web", command: ["x"] });
  const events = stream[Symbol.asyncIterator]();

  await events.next();
  await new Promise((done) => setTimeout(done, 100));
  const sentWhileWaiting = sent;
  let receivedBytes = 64 * 1024;
  for (let event = await events.next(); !event.done; event = await events.next()) {
    if (event.value.kind === "stdout") receivedBytes += event.value.bytes.length;
  }

  expect(sentWhileWaiting).toBeLessThan(pieces / 2);
  expect(receivedBytes).toBe(pieces * 64 * 1024);
});

test("a session is found by name, id or unique prefix, and an ambiguous prefix says so", async () => {
  const sessions = [
    { id: "abc1", name: "web" },
    { id: "abd2", name: "db" },
  ];
  await using daemon = await startScriptedDaemon(({ send }) => send("result", { sessions }));
  const waypoint = await Waypoint.open({ stateDir: daemon.stateDir });

  const found = await Promise.all(["web", "abd2", "abc"].map((name) => waypoint.session(name)));

  expect(found.map(({ name }) => name)).toEqual(["web", "db", "web"]);
  await expect(waypoint.session("ab")).rejects.toMatchObject({ code: "REFERENCE_AMBIGUOUS" });
  await expect(waypoint.session("zz")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
});
