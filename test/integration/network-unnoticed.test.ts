import { type ChildProcess, spawn } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pollUntil } from "../../src/base/index.ts";
import type { Session } from "../../src/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { ECHO_SERVER, HOST_ADDRESS, HOST_NAMESPACE, reach, sh } from "./network-world.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

const RESTORES = 20;
const CONNECTIONS_MIN = 5;

/** Connects to the host again and again, and tells every way in which that failed. */
const PROGRAM = `
import collections, errno, json, os, socket, sys
seen = collections.Counter()
while True:
    try:
        with socket.create_connection((sys.argv[1], 8000)) as connection: connection.recv(100)
        seen["connected"] += 1
    except OSError as error: seen[errno.errorcode.get(error.errno, str(error))] += 1
    with open("/root/seen.new", "w") as file: json.dump(seen, file)
    os.rename("/root/seen.new", "/root/seen")
`;

const title = "restored programs find their network as it was";
inPrivateNamespace(import.meta.filename, { title, network: true }, () => {
  let own: TestWaypoint;
  let server: ChildProcess;

  beforeAll(async () => {
    sh(`ip link set lo up; ip netns add world
      ip link add wan0 type veth peer name eth0 netns world
      ip address add ${HOST_ADDRESS}/24 dev wan0; ip link set wan0 up`);
    server = spawn("/usr/bin/python3", ["-c", ECHO_SERVER]);
    await pollUntil("the host's server", { timeoutMs: 60_000 }, () =>
      reach(HOST_NAMESPACE, HOST_ADDRESS) === "" ? undefined : true,
    );
    own = await openTestWaypoint();
  });
  afterAll(async () => {
    await own?.[Symbol.asyncDispose]();
    server?.kill();
  });

  test(`a program that connects all the time never misses its network in ${RESTORES} restores`, async () => {
    const session = await own.waypoint.new();
    await session.exec(["tee", "/root/program.py"], { shell: "own", input: PROGRAM });
    await session.exec(`/usr/bin/python3 /root/program.py ${HOST_ADDRESS} &`);
    await connectionsSeen(session, CONNECTIONS_MIN);
    const checkpoint = await session.checkpoint();
    const before = await seenBy(session);

    const failures = new Set<string>();
    for (let round = 0; round < RESTORES; round += 1) {
      await session.restore(checkpoint, { withoutUndo: true });
      const seen = await connectionsSeen(session, (before["connected"] ?? 0) + CONNECTIONS_MIN);
      for (const outcome of Object.keys(seen)) failures.add(outcome);
    }

    // One that was open, or being made, at the time of the checkpoint is the original's.
    for (const expected of ["connected", "ECONNABORTED", "EISCONN"]) failures.delete(expected);
    expect([...failures]).toEqual([]);
  });
});

async function seenBy(session: Session): Promise<Record<string, number>> {
  const { stdout } = await session.exec("cat /root/seen", { shell: "own" });
  return stdout === "" ? {} : (JSON.parse(stdout) as Record<string, number>);
}

async function connectionsSeen(session: Session, count: number): Promise<Record<string, number>> {
  return await eventually(
    `${count} connections`,
    () => seenBy(session),
    (seen) => (seen["connected"] ?? 0) >= count,
  );
}
