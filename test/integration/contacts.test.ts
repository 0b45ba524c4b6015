import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Contact, Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { ALLOWED, OTHER, startWorld } from "../support/outside-world.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { WORLD_ADDRESS } from "./network-world.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

const API = "api.example.com";
const HOSTILE = "red\u001b[31m.example.com";
/** What a packet has beside its data, and a request its head, is not counted by the test. */
const BODY_BYTES = 12_000;

const title = "whom a session talked to is told with how much, and no restore takes it back";
inPrivateNamespace(import.meta.filename, { title, network: true }, () => {
  let own: TestWaypoint;
  let world: ChildProcess;

  beforeAll(async () => {
    world = await startWorld({ [API]: [ALLOWED], [HOSTILE]: [OTHER] });
    own = await openTestWaypoint();
  });
  afterAll(async () => {
    await own?.[Symbol.asyncDispose]();
    world?.kill();
  });

  /** Sends some kilobytes, and gets five back. */
  async function talk(session: Session, host: string): Promise<void> {
    const send = `head -c ${BODY_BYTES} /dev/zero | curl -sS --data-binary @- http://${host}:8080/`;
    const { exitCode, stdout, stderr } = await session.exec(send, { shell: "own" });
    expect(`${exitCode} ${stderr} ${stdout}`).toMatch(/^0 {2}x+ at 198\.51\.100/);
  }

  function at(contacts: readonly Contact[], port: number): Contact[] {
    return contacts.filter((contact) => contact.port === port);
  }

  test("in the preview of a restore, by name, and after it as well", async () => {
    await using session = await own.waypoint.new({ name: "told" });
    const before = await session.checkpoint();
    await talk(session, API);

    const plan = await session.planRestore(before);
    const [contact, ...others] = at(plan.outside.contacts.contacts, 8080);
    expect(others).toEqual([]);
    expect(contact).toMatchObject({ names: [API], addresses: [ALLOWED], protocol: "tcp" });
    expect(contact?.sentBytes).toBeGreaterThan(BODY_BYTES);
    expect(contact?.sentBytes).toBeLessThan(BODY_BYTES * 1.5);
    expect(contact?.receivedBytes).toBeGreaterThan(5000);
    const preview = await runCommand(own.stateDir, ["restore", "told", before.id, "--dry-run"]);
    expect(preview.stdout).toMatch(
      /Since then it talked to:\n(?:.*\n)*?api\.example\.com:8080 \(1[12]\.\d KiB out, \d\.\d KiB in; 198\.51\.100\.3\)\n/,
    );

    await session.restore(before);
    const again = (await session.planRestore(before)).outside.contacts;
    expect(at(again.contacts, 8080)).toEqual([contact]);
    const after = await session.checkpoint();
    expect(at((await session.contacts({ since: after })).contacts, 8080)).toEqual([]);
    expect(at((await session.contacts()).contacts, 8080)).toEqual([contact]);
  });

  test("in the story of the checkpoint that comes after, and in that of no other", async () => {
    await using session = await own.waypoint.new({ name: "story" });
    await talk(session, API);
    const first = await session.checkpoint();
    await talk(session, OTHER);
    const second = await session.checkpoint();

    const [one, two] = [await first.show(), await second.show()];
    expect(at(one.contacts.contacts, 8080).map(({ names }) => names)).toEqual([[API]]);
    expect(at(two.contacts.contacts, 8080)).toMatchObject([{ names: [], addresses: [OTHER] }]);
    const log = await runCommand(own.stateDir, ["log", "story"]);
    expect(log.stdout).toContain(`talked to ${API}:8080`);
    const shown = await runCommand(own.stateDir, ["show", second.id]);
    expect(shown.stdout).toMatch(/Talked to\n.*198\.51\.100\.5:8080 \(1/);
    const status = await runCommand(own.stateDir, ["status", "story"]);
    expect(status.stdout).not.toContain("Talked to");
  });

  test("two sessions and a fork each have their own", async () => {
    await using one = await own.waypoint.new();
    await using two = await own.waypoint.new();
    const from = await one.checkpoint();
    const [fork] = await from.fork();
    await using forked = fork as Session;
    await Promise.all([talk(one, ALLOWED), talk(two, OTHER), talk(forked, WORLD_ADDRESS)]);

    const told = await Promise.all([one, two, forked].map((each) => each.contacts()));
    expect(
      told.map(({ contacts }) => at(contacts, 8080).flatMap((each) => each.addresses)),
    ).toEqual([[ALLOWED], [OTHER], [WORLD_ADDRESS]]);
  });

  test("what was said before the daemon was killed, and while there was none", async () => {
    await using session = await own.waypoint.new();
    const before = await session.checkpoint();
    await talk(session, API);
    await eventually(
      "the name",
      async () => (await session.contacts()).contacts.flatMap(({ names }) => names),
      (names) => names.includes(API),
    );
    const slow = `sh -c 'sleep 3; curl -s http://${OTHER}:8080/ >/dev/null; touch /srv/said' >/dev/null 2>&1 &`;
    await session.exec(slow, { shell: "own" });
    await killDaemon(await own.daemonPid());
    const started = await eventually(
      "the second word",
      async () => (await session.exec("test -e /srv/said", { shell: "own" })).exitCode,
      (exitCode) => exitCode === 0,
    );
    expect(started).toBe(0);

    const { contacts } = (await session.planRestore(before)).outside.contacts;
    expect(at(contacts, 8080).map(({ names, addresses }) => [...names, ...addresses])).toEqual([
      [API, ALLOWED],
      [OTHER],
    ]);
  });

  test("a flood of ports, and names that are none, harm nobody and stay bounded", async () => {
    await using session = await own.waypoint.new();
    const flood = `python3 -c '
import socket, os
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for port in range(1000, 6000): s.sendto(b"x" * 100, ("${OTHER}", port))
for size in range(0, 400): s.sendto(os.urandom(size), ("${WORLD_ADDRESS}", 53))
' && getent hosts "$(printf 'red\\033[31m.example.com')"; true`;
    const { stderr } = await session.exec(flood, { shell: "own" });
    expect(stderr).toBe("");
    await talk(session, OTHER);

    const told = await session.contacts();
    expect(told.contacts.length).toBeLessThanOrEqual(100);
    expect(told.moreSentBytes).toBeGreaterThan(3000 * 128);
    const shown = await runCommand(own.stateDir, ["contacts", session.name]);
    expect(shown.stdout).not.toContain("\u001b");
  });

  test("sessions without a network of their own say why nothing is known", async () => {
    await using onHost = await own.waypoint.new({ net: "host" });
    await using alone = await own.waypoint.new({ net: "none" });
    expect((await onHost.contacts()).unknown).toContain("host's network");
    expect(await alone.contacts()).toMatchObject({ contacts: [], unknown: null });
  });
});
