import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { startScriptedDaemon } from "../../../test/support/scripted-daemon.ts";
import { callOperation, openStream } from "./index.ts";

const EXEC = { session: "web", command: ["x"] };

test("operations after each other use one connection, those at once have their own", async () => {
  const sockets = new Set<unknown>();
  await using daemon = await startScriptedDaemon(({ socket, send }) => {
    sockets.add(socket);
    setImmediate(() => send("result", { sessions: [] }));
  });
  const list = () => callOperation(daemon.stateDir, "ls", {});

  for (let count = 0; count < 20; count += 1) await list();
  const afterEachOther = sockets.size;
  await Promise.all([list(), list(), list()]);

  expect(afterEachOther).toBe(1);
  expect(sockets.size).toBe(3);
});

test("a kept connection waits for its reader: what comes before is not lost", async () => {
  await using daemon = await startScriptedDaemon(({ request, send }) => {
    if (request.operation === "exec") send("stdout", Buffer.from("early"));
    setTimeout(() => send("result", { sessions: [] }), 20);
  });
  await callOperation(daemon.stateDir, "ls", {});

  const stream = await openStream(daemon.stateDir, "exec", EXEC);
  await delay(50);
  const seen: string[] = [];
  for await (const event of stream) {
    if (event.kind === "stdout") seen.push(Buffer.from(event.bytes).toString());
  }

  expect(seen).toEqual(["early"]);
});

test("an error leaves the connection to the next operation, too", async () => {
  const sockets = new Set<unknown>();
  const wire = { code: "SESSION_NOT_FOUND", message: "None.", hint: null, detail: {} };
  await using daemon = await startScriptedDaemon(({ socket, send }) => {
    sockets.add(socket);
    send("error", wire);
  });

  for (let count = 0; count < 3; count += 1) {
    await expect(callOperation(daemon.stateDir, "ls", {})).rejects.toMatchObject(wire);
  }

  expect(sockets.size).toBe(1);
});

test("a connection that the daemon has closed is not used", async () => {
  const sockets = new Set<unknown>();
  await using daemon = await startScriptedDaemon(({ socket, send }) => {
    sockets.add(socket);
    send("result", { sessions: [] });
    socket.destroySoon();
  });

  for (let count = 0; count < 20; count += 1) await callOperation(daemon.stateDir, "ls", {});

  expect(daemon.requests).toHaveLength(20);
  expect(sockets.size).toBe(20);
});

test("after LAST no request is sent on the connection, though it is still open", async () => {
  const sockets = new Set<unknown>();
  await using daemon = await startScriptedDaemon(({ socket, send }) => {
    sockets.add(socket);
    send("last", new Uint8Array());
    send("result", { sessions: [] });
  });

  await callOperation(daemon.stateDir, "ls", {});
  await callOperation(daemon.stateDir, "ls", {});

  expect(sockets.size).toBe(2);
});

test("what is written after the result does not reach the next operation", async () => {
  const afterwards: number[] = [];
  await using daemon = await startScriptedDaemon(async ({ request, send, nextFrame }) => {
    if (request.operation === "ls") void nextFrame().then(({ kind }) => afterwards.push(kind));
    send("result", { sessions: [] });
  });
  const stream = await openStream(daemon.stateDir, "exec", EXEC);
  for await (const _ of stream) throw new Error("nothing but the result was sent");

  await stream.write(Buffer.from("late"));
  stream.control({ control: "signal", signal: 2 });
  stream.endInput();
  stream.close();
  await callOperation(daemon.stateDir, "ls", {});
  await callOperation(daemon.stateDir, "daemon.status", {});

  expect(daemon.requests.map(({ operation }) => operation)).toEqual([
    "exec",
    "ls",
    "daemon.status",
  ]);
  expect(afterwards).toEqual([]);
});

test("an operation that is left before its result takes its connection along", async () => {
  let closed = 0;
  await using daemon = await startScriptedDaemon(({ request, socket, send }) => {
    socket.once("close", () => {
      closed += 1;
    });
    if (request.operation === "ls") send("result", { sessions: [] });
  });
  const stream = await openStream(daemon.stateDir, "exec", EXEC);

  stream.close();
  await callOperation(daemon.stateDir, "ls", {});

  expect(closed).toBe(1);
});
