import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { afterEach, beforeAll, expect, test } from "vitest";
import { pollUntil } from "../../src/base/index.ts";
import { INNER_ADDRESS, NetworkHost, type SessionNetwork } from "../../src/linux/network/index.ts";
import {
  enter,
  HOST_ADDRESS,
  HOST_NAMESPACE,
  hostState,
  LINK_MAKER,
  NETNS_DIR,
  run,
  sh,
} from "./network-world.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

const SPARES_MAX = 2;

/** What the kernel keeps though no interface has counted a packet, and no socket is left. */
const FRAGMENT = `import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 84, 0x4242, 0x2000, 64, 253, 0,
                   socket.inet_aton("${INNER_ADDRESS}"), socket.inet_aton("${HOST_ADDRESS}"))
s.sendto(head + b"A" * 64, ("${HOST_ADDRESS}", 0))`;
const MULTICAST = `import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0)
s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
link = struct.pack("=4s4si", bytes(4), bytes(4), socket.if_nametoindex("eth0"))
s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, link)
s.sendto(b"A", ("224.0.0.1", 9999))`;
const FLOW_LABEL = `import socket, struct
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
label = socket.inet_pton(socket.AF_INET6, "2001:db8::7") + struct.pack("!I", 0x12345)
s.setsockopt(socket.IPPROTO_IPV6, 32, label + struct.pack("BBHHHI", 0, 1, 3, 60, 60, 0))`;

const python = (script: string) => `python3 - <<'END'\n${script}\nEND\n`;

const title = "networks are made in advance";
inPrivateNamespace(import.meta.filename, { title, network: true }, () => {
  let host: NetworkHost;

  beforeAll(() => {
    sh(`ip link set lo up; ip link add wan0 type veth peer name wan1
      ip address add ${HOST_ADDRESS}/24 dev wan0; ip link set wan0 up`);
  });
  afterEach(async () => {
    for (const id of await host.list()) await host.remove(id);
    await host.releaseHost();
  });

  const open = () =>
    NetworkHost.open({
      ownerKey: "a1",
      netnsDir: NETNS_DIR,
      makerPath: LINK_MAKER,
      hostResolvConf: `nameserver ${HOST_ADDRESS}\n`,
      sparesMax: SPARES_MAX,
    });

  const sparesOf = async () => (await host.list()).filter((id) => id.startsWith("spare-"));

  function untilSpares(count: number): Promise<true> {
    return pollUntil(`${count} spares`, { timeoutMs: 20_000 }, async () =>
      (await sparesOf()).length === count ? true : undefined,
    );
  }

  function untilReady(count: number): Promise<true> {
    return pollUntil(`${count} ready`, { timeoutMs: 20_000 }, async () =>
      host.status().readyCount === count ? true : undefined,
    );
  }

  test("the status tells those that are ready, and the programs that make links", async () => {
    host = await open();
    expect(host.status()).toEqual({ readyCount: 0, makerCount: 0 });

    await host.create("i1", "nat");
    await untilReady(SPARES_MAX);
    expect(host.status().makerCount).toBeGreaterThan(0);

    await host.remove("i1");
    await host.releaseHost();
    expect(host.status()).toEqual({ readyCount: 0, makerCount: 0 });
  });

  test("an instance takes one, and it is as if it had been made for it", async () => {
    host = await open();
    const first = await host.create("i1", "nat");
    await untilSpares(SPARES_MAX);

    const second = await host.takeSpare("i2");

    expect(second).not.toBeNull();
    expect(second?.address).not.toBe(first.address);
    expect(second?.netnsPath).toBe(host.netnsPath("i2"));
    expect(run(HOST_NAMESPACE, `ip link show wp${second?.linkIndex}`)).toContain("waypoint:a1:i2");
    if (second === null) return;
    expect(run(second, "ip -4 -o address show dev lo")).toContain(`${INNER_ADDRESS}/32`);
    expect(run(second, "ip -4 -o address show dev eth0")).toContain(`${second.address}/31`);
    expect(run(second, "nft list ruleset")).toContain("masquerade");
    expect(run(second, `timeout 9 bash -c ': </dev/tcp/${HOST_ADDRESS}/9' 2>&1`)).toMatch(
      /refused/,
    );
    // What was taken is made again.
    await untilSpares(SPARES_MAX);
    await untilReady(SPARES_MAX);
  });

  test("without one, the network is made when it is needed", async () => {
    host = await open();

    expect(await host.takeSpare("i1")).toBeNull();
    const session = await host.create("i1", "nat");

    expect(session.address).not.toBeNull();
  });

  /** Ends the processes of an instance, of which one has run `command`, as a session's are ended. */
  async function endAfter(id: string, session: SessionNetwork, command: string): Promise<void> {
    run(session, command);
    const child = spawn("nsenter", [...enter(session), "sleep", "1000"], { stdio: "ignore" });
    // It is in the namespace once it is no longer what takes it there.
    await pollUntil("a process of its own", { timeoutMs: 20_000 }, () =>
      readFileSync(`/proc/${child.pid}/comm`, "utf8") === "sleep\n" ? true : undefined,
    );
    host.beforeEnd(id, child.pid ?? 0);
    child.kill("SIGKILL");
    await once(child, "exit");
    await host.remove(id);
  }

  const addressesOfSpares = async () => {
    const taken: (string | null)[] = [];
    for (let number = 1; ; number += 1) {
      const session = host.status().readyCount > 0 ? await host.takeSpare(`t${number}`) : null;
      if (session === null) return taken;
      taken.push(session.address);
    }
  };

  test("one that was never used is kept for the next, and is like any other", async () => {
    host = await open();
    await host.create("i1", "nat");
    await untilReady(SPARES_MAX);
    const used = await host.create("i2", "nat");
    await untilReady(SPARES_MAX);

    await endAfter("i2", used, "true");

    expect(host.status().readyCount).toBe(SPARES_MAX + 1);
    expect(await host.list()).not.toContain("i2");
    expect(existsSync(host.netnsPath("i2"))).toBe(false);
    const kept = await host.takeSpare("i3");
    const next = kept?.address === used.address ? kept : await host.takeSpare("i4");
    const last = next?.address === used.address ? next : await host.takeSpare("i5");
    expect(last?.address).toBe(used.address);
    if (last === null || last === undefined) return;
    expect(run(last, `timeout 9 bash -c ': </dev/tcp/${HOST_ADDRESS}/9' 2>&1`)).toMatch(/refused/);
    // What is counted there by now is somebody else's.
    expect(await host.contacts.read("i2", used.address)).toBeNull();
    // Not more than twice as many as are made, and one that is being made, though all end at once.
    const many = Array.from({ length: 8 }, (_, number) => `m${number}`);
    const made = new Map<string, SessionNetwork>();
    for (const id of many) made.set(id, await host.create(id, "nat"));
    await Promise.all([...made].map(([id, network]) => endAfter(id, network, "true")));
    expect(host.status().readyCount).toBeLessThanOrEqual(2 * SPARES_MAX + 1);
  });

  test.each([
    ["spoke to itself", "timeout 9 bash -c ': </dev/tcp/127.0.0.1/9' || true"],
    ["spoke to the host", `timeout 9 bash -c ': </dev/tcp/${HOST_ADDRESS}/9' || true`],
    ["said something that nobody heard", "bash -c 'echo x >/dev/udp/198.51.100.77/9'"],
    ["left a fragment that waits for others", python(FRAGMENT)],
    ["spoke to itself by multicast, which no interface counts", python(MULTICAST)],
    ["keeps a label of IPv6 for later", python(FLOW_LABEL)],
  ])("one that %s is removed", async (_, command) => {
    host = await open();
    await host.create("i1", "nat");
    const used = await host.create("i2", "nat");
    await untilReady(SPARES_MAX);

    await endAfter("i2", used, command);

    expect(await addressesOfSpares()).not.toContain(used.address);
    expect(hostState()).not.toContain("a1:i2");
  });

  test("one in which a socket of somebody else is left is removed", async () => {
    host = await open();
    await host.create("i1", "nat");
    const used = await host.create("i2", "nat");
    await untilReady(SPARES_MAX);
    const listens = "require('net').createServer().listen(7000, () => console.log('listens'))";
    const holder = spawn("nsenter", [...enter(used), process.execPath, "-e", listens], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    await once(holder.stdout, "data");

    await endAfter("i2", used, "true");
    holder.kill("SIGKILL");

    expect(await addressesOfSpares()).not.toContain(used.address);
  });

  test("one that was made for sockets, or whose reach is limited, is removed, and so is one that nobody vouches for", async () => {
    host = await open();
    await host.create("i1", "nat");
    await untilReady(SPARES_MAX);
    const limited = await host.create("i2", "nat", "allow:example.org:443");
    const plan = { addresses: [], addressesKept: [], connections: [], senders: [] };
    await host.createNamespace("i3", { ...plan, needsRoute: false, needsIpv6Route: false });
    const planned = await host.connect("i3");
    const unseen = await host.create("i4", "nat");

    await endAfter("i2", limited, "true");
    await endAfter("i3", planned, "true");
    await host.remove("i4");
    // Of a process in another namespace.
    const other = await host.create("i5", "nat");
    host.beforeEnd("i5", process.pid);
    await host.remove("i5");

    const kept = await addressesOfSpares();
    for (const each of [limited, planned, unseen, other]) expect(kept).not.toContain(each.address);
  });

  test("the last session takes them with it", async () => {
    host = await open();
    const before = hostState();
    await host.create("i1", "nat");
    await untilSpares(SPARES_MAX);

    await host.remove("i1");

    expect(await host.list()).toEqual([]);
    await host.releaseHost();
    expect(hostState()).toEqual(before);
  });

  test("what a killed daemon left of them is found by the next", async () => {
    const killed = await open();
    await killed.create("i1", "nat");
    host = killed;
    await untilSpares(SPARES_MAX);

    host = await open();

    expect(await sparesOf()).toHaveLength(SPARES_MAX);
    await killed.releaseHost();
  });
});
