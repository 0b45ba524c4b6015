import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { pollUntil } from "../../src/base/index.ts";
import { NetworkHost, type SessionNetwork } from "../../src/linux/network/index.ts";
import { eventually, openTestWaypoint } from "../support/test-waypoint.ts";
import {
  askName,
  enter,
  HOST_NAMESPACE,
  LINK_MAKER,
  NAME_SERVER,
  NETNS_DIR,
  run,
  sh,
} from "./network-world.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

const WORLD = "2001:db8::2";
const HOST = "2001:db8::1";
const INNER = "fd57:6179:706f:ffff::2";
const FORWARDING = "/proc/sys/net/ipv6/conf/all/forwarding";
/** Says from where it is spoken to. */
const SERVER = `
import socket, threading
server = socket.create_server(("::", 8000), family=socket.AF_INET6)
kept = []
while True:
    connection, peer = server.accept()
    kept.append(connection)
    connection.sendall((peer[0] + "\\n").encode())
`;
const CLIENT = `
import errno, socket, sys
connection = socket.create_connection((sys.argv[1], 8000))
said = open("/root/said", "w", buffering=1)
while True:
    try: said.write(connection.recv(100).decode())
    except OSError as error: sys.exit(said.write(errno.errorcode[error.errno] + "\\n"))
`;

const title = "sessions have IPv6 where the host forwards it";
inPrivateNamespace(import.meta.filename, { title, network: true }, () => {
  let world: ChildProcess;
  const hosts: NetworkHost[] = [];
  const processes: ChildProcess[] = [];

  beforeAll(async () => {
    sh(`ip link set lo up; ip netns add world
      ip link add wan0 type veth peer name eth0 netns world
      ip address add ${HOST}/64 dev wan0 nodad; ip link set wan0 up
      ip -n world address add ${WORLD}/64 dev eth0 nodad; ip -n world link set eth0 up
      ip -6 route add default via ${WORLD}`);
    world = spawn("ip", ["netns", "exec", "world", "/usr/bin/python3", "-c", NAME_SERVER + SERVER]);
    await pollUntil("the world", { timeoutMs: 60_000 }, () =>
      reach6(HOST_NAMESPACE, WORLD) === "" ? undefined : true,
    );
  });
  afterEach(async () => {
    for (const child of processes.splice(0)) child.kill();
    for (const host of hosts.splice(0)) {
      for (const id of await host.list()) await host.remove(id);
      await host.releaseHost();
    }
  });
  afterAll(() => world.kill());

  async function open(forwarding: "0" | "1", nameServer = "198.51.100.2"): Promise<NetworkHost> {
    writeFileSync(FORWARDING, forwarding);
    const host = await NetworkHost.open({
      ownerKey: "a1",
      netnsDir: NETNS_DIR,
      makerPath: LINK_MAKER,
      hostResolvConf: `nameserver ${nameServer}\n`,
    });
    hosts.push(host);
    return host;
  }

  test("two sessions reach the world as the host, from the same inner address", async () => {
    const host = await open("1");
    const sessions = await Promise.all([host.create("i1", "nat"), host.create("i2", "nat")]);

    for (const session of sessions) {
      expect(run(session, "ip -6 -o address show dev lo")).toContain(`${INNER}/128`);
      expect(run(session, `ip -6 route get ${WORLD}`)).toContain(`src ${INNER}`);
      expect(reach6(session, WORLD)).toBe(HOST);
    }
  });

  test("sessions do not reach each other, and cannot send as somebody else", async () => {
    const host = await open("1");
    const [first, second] = [await host.create("i1", "nat"), await host.create("i2", "nat")];
    processes.push(spawn("nsenter", [...enter(second), "/usr/bin/python3", "-c", SERVER]));
    const address = /inet6 (fd\S+)\/126/.exec(run(second, "ip -6 -o address show dev eth0"))?.[1];
    await pollUntil("the server", { timeoutMs: 60_000 }, () =>
      reach6(HOST_NAMESPACE, address ?? "") === "" ? undefined : true,
    );

    expect(reach6(first, address ?? "")).toBe("");
    run(first, "nft delete table ip6 waypoint");
    expect(reach6(first, WORLD)).toBe("");
  });

  test("a host whose only name server has IPv6 lends it to sessions where it forwards", async () => {
    const host = await open("1", WORLD);
    const session = await host.create("i1", "nat");

    expect(host.resolvConf).toBe(`nameserver ${WORLD}\n`);
    expect(askName(session, WORLD)).toBe("answered");
    expect((await open("0", WORLD)).resolvConf).toBe("");
  });

  test("a host that does not forward IPv6 is left as it is", async () => {
    const session = await (await open("0")).create("i1", "nat");

    expect(run(session, "ip -6 -o address")).not.toContain("fd57");
    expect(run(HOST_NAMESPACE, "nft list tables")).not.toContain("ip6");
  });

  test("a fork's IPv6 connection to the outside is closed, the original's lives on", async () => {
    writeFileSync(FORWARDING, "1");
    await using own = await openTestWaypoint();
    const session = await own.waypoint.new();
    await session.exec(["tee", "/root/client.py"], { shell: "own", input: CLIENT });
    await session.exec(`/usr/bin/python3 /root/client.py ${WORLD} &`);
    const said = (expected: string) =>
      eventually(
        expected,
        async () => (await fork.exec("cat /root/said", { shell: "own" })).stdout,
        (text) => text.endsWith(`${expected}\n`),
      );
    let fork = session;
    await said(HOST);

    [fork = session] = await (await session.checkpoint()).fork(1);

    await said("ECONNABORTED");
    const established = await session.exec("ss -H6tn state established", { shell: "own" });
    expect(established.stdout).toContain(`[${INNER}]`);
    expect((await fork.exec("ip -6 route show dev lo", { shell: "own" })).stdout).not.toContain(
      "default",
    );
  });
});

function reach6(session: SessionNetwork, address: string): string {
  const script = `exec 3<>/dev/tcp/${address}/8000 && read -u3 line && echo $line`;
  return run(session, `timeout 1 bash -c '${script}' 2>/dev/null`).trim();
}
