import { afterEach, beforeAll, expect, test } from "vitest";
import { pollUntil } from "../../src/base/index.ts";
import { INNER_ADDRESS, NetworkHost } from "../../src/linux/network/index.ts";
import {
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
