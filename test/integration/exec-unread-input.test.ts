import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import path from "node:path";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { finished, runShellLine, startCommand } from "../support/command-line.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

// Of its own: a session has what the host has, and a file of that name may be there.
const RAN = `/tmp/waypoint-ran-${randomUUID()}`;
const REFUSED = "Standard input has bytes that the command would not read.";
let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  await own.waypoint.new({ name: "web" });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

async function line(text: string) {
  return await runShellLine(own.stateDir, text);
}

test.each([
  ["a pipe", "echo hi | $W exec web -- touch $RAN"],
  ["a file", "$W exec web -- touch $RAN </etc/passwd"],
  ["a pipe, for the session's terminal", "echo hi | $W exec web --tty -- touch $RAN"],
  ["a pipe, for another user", "echo hi | $W exec web --user nobody -- touch $RAN"],
  ["a pipe, for JSON", "echo hi | $W exec web --json -- touch $RAN"],
  ["a pipe, for a session of its own", "echo hi | $W run --name other -- touch $RAN"],
])(
  "%s with bytes that no command would read is refused before anything runs",
  async (_of, text) => {
    const { stdout, stderr, exitCode } = await line(text.replace("$RAN", RAN));

    expect(exitCode).toBe(2);
    expect(stdout + stderr).toContain(REFUSED);
    expect((await line(`$W exec web -- ls ${RAN} </dev/null`)).stdout).toBe("");
    expect((await own.waypoint.sessions()).map(({ name }) => name)).toEqual(["web"]);
  },
);

test.each([
  ["of no bytes", "printf '' | $W exec web -- echo ran"],
  ["that has not come to its end", "mkfifo $F; exec 3<>$F; $W exec web -- echo ran <$F"],
  ["that is a device", "$W exec web -- echo ran </dev/null"],
  ["that is closed", "$W exec web -- echo ran <&-"],
  ["that was read to its end", "(cat >/dev/null; $W exec web -- echo ran) </etc/passwd"],
])("standard input %s is in nobody's way", async (_of, text) => {
  const fifo = path.join(own.stateDir, "fifo");
  const { stdout, stderr } = await line(text.replaceAll("$F", fifo));

  expect({ stdout, stderr }).toEqual({ stdout: "ran\n", stderr: "" });
});

test("bytes that come after the command has begun are told", async () => {
  const fifo = path.join(own.stateDir, "late");
  execFileSync("mkfifo", [fifo]);
  const fd = openSync(fifo, constants.O_RDWR);
  const command = "echo begun; until [ -e /root/go ]; do sleep 0.05; done";
  const child = startCommand(own.stateDir, ["exec", "web", "--", command], {
    stdio: [fd, "pipe", "pipe"],
  });
  const end = finished(child);
  await once(child.stdout as Readable, "data");

  writeSync(fd, "late\n");
  await line("$W exec web --shell own -- touch /root/go </dev/null");

  const { stderr, exitCode } = await end;
  closeSync(fd);
  expect(stderr).toContain("Standard input had bytes that no command has read.");
  expect(exitCode).toBe(0);
});

test("with -i they reach the command", async () => {
  const { stdout } = await line("echo hi | $W exec web -i -- cat");

  expect(stdout).toBe("hi\n");
});
