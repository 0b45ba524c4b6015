import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { pollUntil } from "../../src/base/index.ts";
import { INNER_ADDRESS, NetworkHost, type SessionNetwork } from "../../src/linux/network/index.ts";
import {
  askName,
  askNameLater,
  ECHO_SERVER,
  enter,
  FORWARD,
  HOST_ADDRESS,
  HOST_NAMESPACE,
  hostState,
  LINK_MAKER,
  NAME_SERVER,
  NETNS_DIR,
  reach,
  run,
  sendFrame,
  sh,
  WORLD_ADDRESS,
} from "./network-world.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

const title = "sessions reach the world through the host and not each other";
inPrivateNamespace(import.meta.filename, { title, network: true }, () => {
  let world: ChildProcess;
  const hosts: NetworkHost[] = [];
  const processes: ChildProcess[] = [];

  beforeAll(async () => {
    // A new namespace may have inherited what the host has.
    writeFileSync(FORWARD, "0");
    sh(`ip link set lo up; ip netns add world
      ip link add wan0 type veth peer name eth0 netns world
      ip address add ${HOST_ADDRESS}/24 dev wan0; ip link set wan0 up
      ip -n world address add ${WORLD_ADDRESS}/24 dev eth0; ip -n world link set eth0 up`);
    world = spawn("ip", [
      "netns",
      "exec",
      "world",
      "/usr/bin/python3",
      "-c",
      NAME_SERVER + ECHO_SERVER,
    ]);
    await pollUntil("the world", { timeoutMs: 60_000 }, () =>
      reach(HOST_NAMESPACE, WORLD_ADDRESS) === "" ? undefined : true,
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

  async function open(ownerKey = "a1", nameServer = WORLD_ADDRESS): Promise<NetworkHost> {
    const hostResolvConf = `nameserver ${nameServer}\n`;
    const host = await NetworkHost.open({
      ownerKey,
      netnsDir: NETNS_DIR,
      makerPath: LINK_MAKER,
      hostResolvConf,
    });
    hosts.push(host);
    return host;
  }

  /** Starts a server inside a session and waits until the session itself reaches it. */
  async function serveIn(session: SessionNetwork): Promise<void> {
    processes.push(spawn("nsenter", [...enter(session), "/usr/bin/python3", "-c", ECHO_SERVER]));
    await pollUntil("the server", { timeoutMs: 60_000 }, () =>
      reach(session, "127.0.0.1") === "" ? undefined : true,
    );
  }

  test("two sessions with the same inner address reach the world as the host", async () => {
    const host = await open();
    const [first, second] = await Promise.all([host.create("i1", "nat"), host.create("i2", "nat")]);

    expect(first.address).not.toBe(second.address);
    for (const session of [first, second]) {
      expect(run(session, "ip -4 -o address show dev lo")).toContain(`${INNER_ADDRESS}/32`);
      expect(reach(session, WORLD_ADDRESS)).toBe(HOST_ADDRESS);
    }
  });

  test("connections come from the inner address and stay established", async () => {
    const session = await (await open()).create("i1", "nat");
    const client = spawn("nsenter", [
      ...enter(session),
      "bash",
      "-c",
      `exec 3<>/dev/tcp/${WORLD_ADDRESS}/8000; read -u3 peer; echo up; read; echo again >&3; read -u3 echoed; echo $echoed; sleep 100`,
    ]);
    processes.push(client);
    let said = "";
    client.stdout?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    await pollUntil("the connection", { timeoutMs: 60_000 }, () =>
      said === "" ? undefined : true,
    );

    const connections = run(session, "ss -Htn state established");
    client.stdin?.write("\n");
    await pollUntil("the echo", { timeoutMs: 60_000 }, () =>
      said === "up\nagain\n" ? true : undefined,
    );

    expect(connections).toMatch(new RegExp(`${INNER_ADDRESS}:\\d+ +${WORLD_ADDRESS}:8000`));
  });

  test("sessions do not reach each other, nor each other's links", async () => {
    const [one, two] = [await open("a1"), await open("b2")];
    const first = await one.create("i1", "nat");
    const second = await one.create("i2", "nat");
    const foreign = await two.create("i1", "nat");
    await Promise.all([first, second, foreign].map(serveIn));

    for (const target of [second, foreign]) {
      expect(reach(first, target.address ?? "", 1)).toBe("");
    }
    expect(reach(HOST_NAMESPACE, second.address ?? "")).not.toBe("");
  });

  test("a name server of the outside is asked directly", async () => {
    const host = await open();
    const session = await host.create("i1", "nat");

    expect(host.resolvConf).toBe(`nameserver ${WORLD_ADDRESS}\n`);
    expect(askName(session, WORLD_ADDRESS)).toBe("answered");
  });

  test("a name server on the host's loopback answers, and takes sessions for the host", async () => {
    const clients: string[] = [];
    const server = createSocket("udp4").bind(53, "127.0.0.53");
    server.on("message", (query, client) => {
      clients.push(client.address);
      server.send(query, client.port, client.address);
    });
    const host = await open("a1", "127.0.0.53");
    const session = await host.create("i1", "nat");
    const gateway = host.resolvConf.trim().split(" ")[1] ?? "";

    const answer = await askNameLater(session, gateway);
    server.close();

    expect(answer).toBe("answered");
    expect(clients).toEqual(["127.0.0.1"]);
  });

  test("a session that makes its own packets reaches nothing on the host's loopback", async () => {
    const heard: string[] = [];
    const session = await (await open("a1", "127.0.0.53")).create("i1", "nat");
    const gateway = /via (\S+)/.exec(run(session, "ip route show default"))?.[1] ?? "";
    const servers = ["127.0.0.1", gateway].map((address) => {
      const server = createSocket("udp4").bind(4001, address);
      return server.on("message", () => heard.push(address));
    });

    await Promise.all(servers.map((server) => once(server, "listening")));
    sendFrame(session, "127.0.0.1", 4001);
    sendFrame(session, gateway, 4001);
    // What was sent last has arrived.
    await pollUntil("a packet", { timeoutMs: 60_000 }, () => heard.includes(gateway) || undefined);
    for (const server of servers) server.close();

    expect(heard).toEqual([gateway]);
  });

  test("a session without a network has its loopback and the inner address only", async () => {
    const session = await (await open()).create("i1", "none");

    expect(session).toMatchObject({ address: null, linkIndex: null });
    expect(run(session, "ip -o -4 address")).toContain(`${INNER_ADDRESS}/32`);
    expect(run(session, "ip -o link").trim().split("\n")).toHaveLength(1);
    expect(reach(session, WORLD_ADDRESS, 1)).toBe("");
    expect(readFileSync(FORWARD, "utf8").trim()).toBe("0");
  });

  test("removing leaves nothing, may be repeated, and the host is as before", async () => {
    const before = hostState();
    const host = await open();
    await Promise.all([
      host.create("i1", "nat"),
      host.create("i2", "nat"),
      host.create("i3", "none"),
    ]);
    expect(readFileSync(FORWARD, "utf8").trim()).toBe("1");
    expect((await host.list()).sort()).toEqual(["i1", "i2", "i3"]);

    for (const id of ["i1", "i2", "i3", "i1", "never-was"]) await host.remove(id);
    await host.releaseHost();
    await host.releaseHost();

    expect(await host.list()).toEqual([]);
    expect(hostState()).toBe(before);
  });

  test("forwarding that was on stays on", async () => {
    writeFileSync(FORWARD, "1");
    const host = await open();
    await host.create("i1", "nat");
    await host.remove("i1");
    await host.releaseHost();
    const after = readFileSync(FORWARD, "utf8").trim();
    writeFileSync(FORWARD, "0");

    expect(after).toBe("1");
  });

  test("the last of two daemons puts forwarding back, whoever switched it on", async () => {
    const [one, two] = [await open("a1"), await open("b2")];
    await one.create("i1", "nat");
    const session = await two.create("i1", "nat");

    await one.remove("i1");
    await one.releaseHost();
    expect(reach(session, WORLD_ADDRESS)).toBe(HOST_ADDRESS);
    await two.remove("i1");
    await two.releaseHost();

    expect(readFileSync(FORWARD, "utf8").trim()).toBe("0");
  });

  test("a daemon started again finds and removes what a killed one left", async () => {
    const before = hostState();
    await (await open()).create("i1", "nat");

    const next = await open();
    expect(await next.list()).toEqual(["i1"]);
    await next.create("i2", "nat");
    await next.remove("i1");
    await next.remove("i2");
    await next.releaseHost();

    expect(hostState()).toBe(before);
  });

  test("a link name that another daemon has is passed over", async () => {
    const host = await open();
    const first = await host.create("i1", "nat");
    sh(
      `ip link add wp${(first.linkIndex ?? 0) + 1} type dummy || ip link add wp${(first.linkIndex ?? 0) + 1} type veth peer name other`,
    );
    const second = await host.create("i2", "nat");
    sh(`ip link delete wp${(first.linkIndex ?? 0) + 1}`);

    expect(second.linkIndex).toBe((first.linkIndex ?? 0) + 2);
    expect(reach(second, WORLD_ADDRESS)).toBe(HOST_ADDRESS);
  });

  test("sessions get through a host whose own forward chain drops", async () => {
    sh(
      "nft 'add table ip filter; add chain ip filter FORWARD { type filter hook forward priority filter; policy drop; }'",
    );
    const host = await open();
    const session = await host.create("i1", "nat");
    const reached = reach(session, WORLD_ADDRESS);
    await host.remove("i1");
    await host.releaseHost();
    const rules = spawnSync("nft", ["list", "chain", "ip", "filter", "FORWARD"], {
      encoding: "utf8",
    });
    sh("nft delete table ip filter");

    expect(reached).toBe(HOST_ADDRESS);
    expect(rules.stdout).not.toContain("waypoint");
  });

  test("a failed creation leaves nothing", async () => {
    const host = await open();
    const before = hostState();
    await host.createNamespace("i1");
    sh(`umount ${NETNS_DIR}/waypoint-a1-i1`);

    await expect(host.connect("i1")).rejects.toMatchObject({ code: "TOOL_FAILED" });
    await host.remove("i1");
    await host.releaseHost();

    expect(hostState()).toBe(before);
    expect(existsSync(`${NETNS_DIR}/waypoint-a1-i1`)).toBe(false);
  });
});
