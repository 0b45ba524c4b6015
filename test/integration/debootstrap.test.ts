import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { TestBases } from "../support/bases.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const DEBOOTSTRAP_TIMEOUT_MS = 300_000;
const INSTALL =
  "apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends hello";
const INSTALL_TIMEOUT_MS = 120_000;

let own: TestWaypoint;
let bases: TestBases;
let base: string;
let session: Session;

beforeAll(async () => {
  bases = new TestBases();
  [own, base] = await Promise.all([openTestWaypoint(), bases.makeDebootstrapped("debian")]);
  session = await own.waypoint.new({ name: "debian", base });
}, DEBOOTSTRAP_TIMEOUT_MS);

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
  bases?.[Symbol.dispose]();
});

async function outputOf(from: Session, command: string): Promise<string> {
  return (await from.exec(command)).stdout;
}

describe("a session on a debootstrapped Debian", () => {
  test("runs that Debian, and a terminal can be attached", async () => {
    await using terminal = await TestTerminal.attach(session);

    await terminal.type(". /etc/os-release; echo $ID-on-$(hostname)\r");

    await terminal.waitFor(/^debian-on-debian$/);
    expect(await outputOf(session, "dpkg --audit; dpkg -l dash | tail -n 1")).toMatch(/^ii +dash /);
  });

  test(
    "installs a package with apt, which comes back, and a fork from before has not",
    async () => {
      const before = await session.checkpoint({ name: "before" });
      const { exitCode, stderr } = await session.exec(INSTALL, { timeoutMs: INSTALL_TIMEOUT_MS });
      expect({ exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({
        exitCode: 0,
        stderr: "",
      });
      expect(await outputOf(session, "cd /usr/share; KEPT=yes; hello")).toBe("Hello, world!\n");
      const after = await session.checkpoint();

      await session.restore(before.id);
      expect(await outputOf(session, "pwd; command -v hello")).toBe("/root\n");
      const [fork] = (await after.fork(1)) as [Session];

      expect(await outputOf(fork, "pwd; echo $KEPT; hello")).toBe(
        "/usr/share\nyes\nHello, world!\n",
      );
      await fork.remove({ force: true });
      expect(existsSync(path.join(base, "usr", "bin", "hello"))).toBe(false);
    },
    INSTALL_TIMEOUT_MS + 60_000,
  );

  test("runs as another user, also in a fork", async () => {
    const plain = await own.waypoint.new({ base, user: "nobody", cwd: "/tmp" });
    await plain.exec("echo mine >file; KEPT=yes");
    const checkpoint = await plain.checkpoint();

    const [fork] = (await checkpoint.fork(1)) as [Session];

    for (const each of [plain, fork]) {
      expect(await outputOf(each, "id -un; echo $KEPT; stat -c %U file")).toBe(
        "nobody\nyes\nnobody\n",
      );
      expect((await each.exec("touch /etc/file")).exitCode).toBe(1);
      await each.remove({ force: true });
    }
  });
});
