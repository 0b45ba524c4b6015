import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type Server } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** The capabilities that a session keeps, as their numbers in capability(7). */
const CAPABILITIES = {
  chown: 0,
  dacOverride: 1,
  fowner: 3,
  fsetid: 4,
  kill: 5,
  setgid: 6,
  setuid: 7,
  setpcap: 8,
  netBindService: 10,
  netRaw: 13,
  sysChroot: 18,
  auditWrite: 29,
  setfcap: 31,
};

const CONNECT =
  "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1]); print('connected')";

let own: TestWaypoint;
let hostDir: string;
let hostServer: Server;
const sessions = new Map<string, Session>();

beforeAll(async () => {
  own = await openTestWaypoint();
  hostDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-host-"));
  hostServer = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => {
    hostServer.listen(path.join(hostDir, "service.sock"), resolve);
  });
  const session = await own.waypoint.new();
  const checkpoint = await session.checkpoint();
  const [fork] = await checkpoint.fork();
  sessions.set("fresh", session).set("forked", fork as Session);
});

afterAll(async () => {
  hostServer?.close();
  rmSync(hostDir, { recursive: true, force: true });
  await own?.[Symbol.asyncDispose]();
});

/** Runs a line in the session of this kind, in a process of its own. */
async function run(kind: string, command: string | string[]) {
  const session = sessions.get(kind);
  if (session === undefined) throw new Error(`no ${kind} session`);
  return await session.exec(command, { shell: "own" });
}

/** Returns what a change of these paths of the host would alter. */
function fingerprint(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of paths) {
    const { mode, mtimeMs, ctimeMs, ino, size } = statSync(file);
    hash.update(JSON.stringify([file, mode, mtimeMs, ctimeMs, ino, size]));
    const isDirectory = statSync(file).isDirectory();
    hash.update(isDirectory ? readdirSync(file).join("\n") : readFileSync(file));
  }
  return hash.digest("hex");
}

describe.each(["fresh", "forked"])("from a %s session", (kind) => {
  test("no change of a file reaches the host", async () => {
    const guarded = [
      "/etc",
      "/etc/passwd",
      "/etc/fstab",
      "/usr/share",
      "/usr/share/zoneinfo",
      hostDir,
    ];
    const before = fingerprint(guarded);

    const { stdout, stderr, exitCode } = await run(
      kind,
      `set -e; echo intruder >> /etc/passwd; rm /etc/fstab; mv /etc/hosts /etc/hosts.moved
       mv /usr/share/doc /usr/share/doc.moved; rm -r /usr/share/zoneinfo/Europe; chmod 700 /usr/share; chown 1000 /etc
       touch ${hostDir}/made; rm ${hostDir}/service.sock; ln /etc/passwd /etc/hard
       tail -n 1 /etc/passwd; ls -A ${hostDir}`,
    );

    expect(stderr).toBe("");
    expect(exitCode).toBe(0);
    expect(stdout).toBe("intruder\nmade\n");
    expect(fingerprint(guarded)).toBe(before);
  });

  test("Waypoint's own state is not seen", async () => {
    expect(readdirSync(own.stateDir)).not.toEqual([]);
    expect((await run(kind, `ls -A ${own.stateDir}`)).stdout).toBe("");
  });

  test("a socket of the host is not reached, by its path or through the network's loopback", async () => {
    const hostPort = await listenOnLoopback();
    const byPath = await run(kind, ["/usr/bin/python3", "-c", CONNECT, `${hostDir}/service.sock`]);
    const byPort = await run(kind, `exec 3<> /dev/tcp/127.0.0.1/${hostPort.port}`);
    hostPort.close();

    expect(byPath.stdout).toBe("");
    expect(byPath.stderr).toMatch(/ConnectionRefusedError|FileNotFoundError/);
    expect(byPort.stderr).toMatch(/Connection refused/);
  });

  test("there are no devices but the harmless ones, and none can be made", async () => {
    const { stdout } = await run(kind, "find /dev -type b -o -type c | sort");
    const devices = ["full", "null", "random", "tty", "urandom", "zero"];
    const terminals = stdout.split("\n").filter((name) => name.startsWith("/dev/pts/"));
    const others = stdout.split("\n").filter((name) => name !== "" && !terminals.includes(name));
    expect(others).toEqual(devices.map((name) => `/dev/${name}`));

    const { stderr } = await run(kind, "mknod /root/disk b 254 0; mknod /root/memory c 1 1");
    expect(stderr.match(/Operation not permitted/g)).toHaveLength(2);
  });

  test.each([
    "mount -t proc proc /mnt",
    "mount --bind /etc /mnt",
    "mount -o remount,rw /sys",
    "umount -n /proc/sys",
    "unshare -U true",
    "unshare -p true",
    "unshare -n true",
    "chroot /proc/1/root nsenter -t 1 -m true",
    "hostname intruder",
    "date -s 2000-01-01",
    "nice -n -5 true 2>&1 | grep -i permi >&2; false",
    "echo 1 > /proc/sys/kernel/panic",
    "echo intruder > /sys/kernel/mm/transparent_hugepage/enabled",
  ])("%s is refused", async (line) => {
    const { exitCode, stderr } = await run(kind, line);

    expect(stderr).toMatch(
      /not permitted|denied|Read-only|must be (superuser|root)|no mount point specified/i,
    );
    expect(exitCode).not.toBe(0);
  });

  test.each(["kcore", "keys", "timer_list", "sysrq-trigger", "acpi"])(
    "/proc/%s says nothing",
    async (name) => {
      const { stdout } = await run(kind, `cat /proc/${name} 2> /dev/null || ls -A /proc/${name}`);

      expect(stdout).toBe("");
    },
  );

  test("programs have the allowed capabilities and a filter of system calls", async () => {
    const kept = Object.values(CAPABILITIES).reduce((mask, bit) => mask | (1n << BigInt(bit)), 0n);
    const { stdout } = await run(kind, "cat /proc/self/status");
    const statusOf = (key: string) => new RegExp(`^${key}:\\s+(\\S+)$`, "m").exec(stdout)?.[1];

    for (const set of ["CapBnd", "CapEff", "CapPrm"]) {
      expect(BigInt(`0x${statusOf(set)}`), set).toBe(kept);
    }
    expect(statusOf("CapAmb")).toBe("0000000000000000");
    expect(statusOf("Seccomp")).toBe("2");
    expect(statusOf("NoNewPrivs")).toBe("0");
  });

  test("a setuid program works for another user", async () => {
    const nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups";
    await run(
      kind,
      "cp /usr/bin/id /usr/local/bin/id-of-root; chmod 4755 /usr/local/bin/id-of-root",
    );

    expect((await run(kind, `${nobody} id -u`)).stdout).toBe("65534\n");
    expect((await run(kind, `${nobody} id-of-root -u`)).stdout).toBe("0\n");
    expect((await run(kind, "su nobody -s /bin/sh -c 'id -un'")).stdout).toBe("nobody\n");
  });
});

async function listenOnLoopback(): Promise<{ port: number; close: () => void }> {
  const server = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { port: address.port, close: () => server.close() };
}
