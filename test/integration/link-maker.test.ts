import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync } from "node:fs";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LINK_MAKER, NETNS_DIR, sh } from "./network-world.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

const PLACE = `${NETNS_DIR}/made`;

/** What the program answers to each request. */
function ask(...requests: readonly (readonly [step: string, text: string])[][]): string[] {
  const input = requests
    .map((steps) => `${steps.map(([step, text]) => frame(step, text)).join("")}end\n`)
    .join("");
  const { stdout, status } = spawnSync(LINK_MAKER, { input, encoding: "utf8" });
  expect(status).toBe(0);
  return stdout.trim().split("\n");
}

function frame(step: string, text: string): string {
  const [kind, need, place] = step.split(" ");
  return `${kind} ${need} ${Buffer.byteLength(text)} ${place}\n${text}`;
}

function told(line: string): string {
  return spawnSync("sh", ["-c", line], { encoding: "utf8" }).stdout;
}

const title = "namespaces, links and rules are made by one program";
inPrivateNamespace(import.meta.filename, { title, network: true }, () => {
  beforeAll(() => sh(`ip link set lo up; mkdir -p ${NETNS_DIR}`));
  beforeEach(() => closeSync(openSync(PLACE, "wx")));
  afterEach(() => {
    spawnSync("ip", ["link", "delete", "wp1"]);
    spawnSync("umount", ["--lazy", PLACE]);
    rmSync(PLACE);
  });

  test("what it makes is what ip and nft show", () => {
    const answers = ask(
      [
        [`namespace must ${PLACE}`, ""],
        [`ip must ${PLACE}`, "link set lo up\naddress add 100.64.0.2/32 dev lo\n"],
      ],
      [
        [
          "ip must -",
          `link add name wp1 type veth peer name eth0 netns ${PLACE}\n` +
            "link set dev wp1 alias waypoint:k:1 addrgenmode none up\naddress add 10.9.0.0/31 dev wp1\n",
        ],
        [
          `ip must ${PLACE}`,
          "link set dev eth0 addrgenmode none up\naddress add 10.9.0.1/31 dev eth0\n" +
            "route add default via 10.9.0.0 dev eth0 src 100.64.0.2\n",
        ],
        [`nft must ${PLACE}`, "add table ip made\n"],
      ],
    );

    expect(answers).toEqual(["ok", "ok"]);
    const inside = (line: string) => told(`nsenter --net=${PLACE} ${line}`);
    expect(inside("ip -o address show")).toMatch(
      /lo\s+inet 100\.64\.0\.2\/32[\s\S]*eth0\s+inet 10\.9\.0\.1\/31/,
    );
    expect(inside("ip route")).toContain("default via 10.9.0.0 dev eth0 src 100.64.0.2");
    // An address that the kernel makes up has neighbours to be looked for.
    expect(inside("ip -6 -o address show dev eth0")).toBe("");
    expect(inside("nft list tables")).toContain("table ip made");
    expect(told("nft list tables")).not.toContain("made");
    expect(told("ip -d link show wp1")).toMatch(/veth[\s\S]*waypoint:k:1/);

    expect(
      ask([
        ["ip must -", "link delete wp1\n"],
        [`release must ${PLACE}`, ""],
      ]),
    ).toEqual(["ok"]);
    expect(told("ip -o link show")).not.toContain("wp1");
    expect(told("cat /proc/self/mountinfo")).not.toContain(PLACE);
    expect(ask([[`release must ${PLACE}`, ""]])).toEqual(["ok"]);
  });

  test("a step that fails ends its request, unless it may, and says its line and why", () => {
    const answers = ask(
      [
        ["ip must -", "link delete wp1\n"],
        [`namespace must ${PLACE}`, ""],
      ],
      [
        ["ip may -", "link delete wp1\n"],
        ["nft must -", "add table ip made\n"],
      ],
      [["nft must -", "add rule ip nowhere input accept\n"]],
      [["ip must -", "link make wp1\n"]],
      [["ip must -", "address add 1.2.3/32 dev lo\n"]],
      [["ip must /run/netns/missing", "link set lo up\n"]],
      [["nonsense must -", ""]],
    );

    expect(answers).toEqual([
      "failed link delete wp1: No such device",
      "ok",
      expect.stringMatching(/^failed nft: .*No such file/),
      "failed link make wp1: Invalid argument",
      "failed address add 1.2.3/32 dev lo: Invalid argument",
      "failed /run/netns/missing: No such file or directory",
      "failed nonsense: Invalid argument",
    ]);
    // The request that failed at its first step made nothing.
    expect(told("cat /proc/self/mountinfo")).not.toContain(PLACE);
    sh("nft delete table ip made");
  });

  test("a request that is cut short is no request", () => {
    const cut = "nft must 100 -\nadd table ip made\n";
    const { status, stdout } = spawnSync(LINK_MAKER, { input: cut, encoding: "utf8" });

    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(told("nft list tables")).not.toContain("made");
  });
});
