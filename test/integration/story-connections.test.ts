import { type ChildProcess, spawn } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pollUntil } from "../../src/base/index.ts";
import type { OperationOutput, Session } from "../../src/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import {
  ECHO_SERVER,
  HOST_ADDRESS,
  HOST_NAMESPACE,
  reach,
  sh,
  WORLD_ADDRESS,
} from "./network-world.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

/** Holds a connection to the world, one to itself, and speaks UDP with the world. */
const PROGRAM = `
import socket, sys, time
server = socket.create_server(("127.0.0.1", 3000))
inside = socket.create_connection(("127.0.0.1", 3000))
accepted, _ = server.accept()
outside = socket.create_connection((sys.argv[1], 8000))
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.connect((sys.argv[1], 53))
open("/srv/ready", "w").close()
time.sleep(1000)
`;

const title = "connections to the outside are told with their owner, those inside are not";
inPrivateNamespace(import.meta.filename, { title, network: true }, () => {
  let own: TestWaypoint;
  let world: ChildProcess;
  let session: Session;

  beforeAll(async () => {
    sh(`ip link set lo up; ip netns add world
      ip link add wan0 type veth peer name eth0 netns world
      ip address add ${HOST_ADDRESS}/24 dev wan0; ip link set wan0 up
      ip -n world address add ${WORLD_ADDRESS}/24 dev eth0; ip -n world link set eth0 up`);
    world = spawn("ip", ["netns", "exec", "world", "/usr/bin/python3", "-c", ECHO_SERVER]);
    await pollUntil("the world", { timeoutMs: 60_000 }, () =>
      reach(HOST_NAMESPACE, WORLD_ADDRESS) === "" ? undefined : true,
    );
    own = await openTestWaypoint();
    session = await own.waypoint.new({ env: { HOME: "/nonexistent" } });
    await session.exec(["tee", "/srv/program.py"], { shell: "own", input: PROGRAM });
  });
  afterAll(async () => {
    await own?.[Symbol.asyncDispose]();
    world?.kill();
  });

  function brief({ connections }: Pick<OperationOutput<"diff">, "connections">) {
    const tell = (found: { protocol: string; remote: string; command: string | null }[] = []) =>
      found.map(({ protocol, remote, command }) => `${protocol} ${remote} ${command}`).sort();
    return { opened: tell(connections?.opened), closed: tell(connections?.closed) };
  }

  test("from the images and live, opened and closed", async () => {
    const command = `/usr/bin/python3 /srv/program.py ${WORLD_ADDRESS}`;
    const before = await session.checkpoint();
    await session.exec(`${command} >/dev/null 2>&1 &`);
    await eventually(
      "the connections",
      async () => (await session.exec("test -e /srv/ready", { shell: "own" })).exitCode,
      (exitCode) => exitCode === 0,
    );
    const live = await own.waypoint.diff(before, session);
    const after = await session.checkpoint();
    const told = (await after.show()).changes;
    await session.exec("kill %% && wait %% 2>/dev/null; true");
    const gone = await own.waypoint.diff(after, session);

    const both = [`tcp ${WORLD_ADDRESS}:8000 ${command}`, `udp ${WORLD_ADDRESS}:53 ${command}`];
    expect(brief(told)).toEqual({ opened: both, closed: [] });
    expect(brief(live)).toEqual({ opened: both, closed: [] });
    expect(brief(gone)).toEqual({ opened: [], closed: both });
    expect(told.ports?.opened.map(({ address, port }) => `${address} ${port}`)).toEqual([
      "127.0.0.1 3000",
    ]);
    expect(told.summary).toMatch(/^program\.py up( on \d+)?(, |$)/);
    const [local] = (told.connections?.opened ?? []).map((each) => each.local);
    expect(local).toMatch(/^[\d.]+:\d+$/);
  });

  test("a fork has lost those over TCP, and is told so", async () => {
    await session.exec(`rm -f /srv/ready; /usr/bin/python3 /srv/program.py ${WORLD_ADDRESS} &`);
    await eventually(
      "the connections",
      async () => (await session.exec("test -e /srv/ready", { shell: "own" })).exitCode,
      (exitCode) => exitCode === 0,
    );
    const checkpoint = await session.checkpoint();
    const [fork] = (await checkpoint.fork(1)) as [Session];

    const told = await own.waypoint.diff(checkpoint, fork);

    expect(brief(told).closed.filter((line) => line.startsWith("tcp"))).toHaveLength(1);
    expect(told.processes).toMatchObject({ started: [], ended: [] });
    expect(told.ports).toEqual({ opened: [], closed: [] });
  });
});
