import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { sh } from "./criu-trees.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

/** Keeps files of every kind open on a mount, and says once in a while what it reads in them. */
const KEEPER = `
import ctypes, mmap, os, time
libc = ctypes.CDLL(None)
watch = libc.inotify_init1(os.O_NONBLOCK)
assert libc.inotify_add_watch(watch, b"/mnt/data", 0x100) > 0
assert libc.inotify_add_watch(watch, b"/mnt/data/lower", 0x100) > 0
log = open("/mnt/data/log", "a")
shared = open("/mnt/data/shared")
mapped = mmap.mmap(shared.fileno(), 0, access=mmap.ACCESS_READ)
gone = open("/mnt/data/gone", "w+"); gone.write("own"); gone.flush(); os.unlink("/mnt/data/gone")
kept = open("/mnt/data/kept"); os.unlink("/mnt/data/kept")
linked = open("/mnt/data/linked", "w+"); linked.write("linked"); linked.flush()
os.link("/mnt/data/linked", "/mnt/data/other-name"); os.unlink("/mnt/data/linked")
os.chdir("/mnt/data/lower")
count = 0
while True:
    count += 1
    log.write(f"{count}\\n"); log.flush()
    for file in (gone, kept, linked): file.seek(0)
    try: events = len(os.read(watch, 4096))
    except BlockingIOError: events = 0
    words = [gone.read(), kept.read(), linked.read(), mapped[:5].decode(), os.getcwd()]
    with open("/tmp/state.new", "w") as state: state.write(" ".join(words))
    os.rename("/tmp/state.new", "/tmp/state")
    if events > 0: open("/tmp/noticed", "w").close()
    time.sleep(0.02)
`;
const STATE = "own kept linked lower /mnt/data/lower";

const title = "a session on the host's root has the host's other mounts";
inPrivateNamespace(import.meta.filename, { title, network: false }, () => {
  let own: TestWaypoint;

  beforeAll(async () => {
    // None of this is seen outside the namespace; the daemon copies it as it starts.
    sh(`mount -t tmpfs tmpfs /mnt; cd /mnt; mkdir data images
      truncate -s 2G images/data images/nested
      mkfs.ext4 -q images/data; mount -o loop images/data data
      mkfs.ext4 -q images/nested; mkdir data/nested; mount -o loop images/nested data/nested
      echo deep > data/nested/file; mount -o remount,ro,nosuid data/nested
      mkdir data/lower; echo lower > data/shared; echo -n kept > data/kept
      chown 1000:1000 data; chmod 750 data; mkdir memory; mount -t tmpfs tmpfs memory`);
    own = await openTestWaypoint();
  });
  afterAll(() => own[Symbol.asyncDispose]());

  const words = async (session: Session, line: string) =>
    (await session.exec(line, { shell: "own" })).stdout.trim();

  async function killDaemon(): Promise<void> {
    const pid = await own.daemonPid();
    process.kill(pid, "SIGKILL");
    await eventually(
      "its end",
      () => existsSync(`/proc/${pid}`),
      (isThere) => !isThere,
    );
  }

  async function startKeeper(session: Session): Promise<void> {
    writeFileSync("/mnt/data/keeper.py", KEEPER);
    await session.exec("python3 /mnt/data/keeper.py > /tmp/keeper.log 2>&1 &");
    await untilCounting(session);
  }

  /** Awaits that the program goes on, and that all that it has open is as it was. */
  async function untilCounting(session: Session): Promise<void> {
    const lines = Number(await words(session, "wc -l < /mnt/data/log || echo 0"));
    const read = () => words(session, "wc -l < /mnt/data/log; cat /tmp/state /tmp/keeper.log");
    const said = await eventually("a count", read, (text) => Number.parseInt(text, 10) > lines + 2);
    expect(said.split("\n")[1]).toBe(STATE);
  }

  test("it sees what is there; what it changes stays its own", async () => {
    await using session = disposable(await own.waypoint.new({ net: "none" }));

    const seen = await words(
      session,
      "cat /mnt/data/shared /mnt/data/nested/file; stat -c '%u %a' /mnt/data; ls /mnt/memory",
    );
    await session.exec("echo mine > /mnt/data/shared; rm /mnt/data/kept; touch /mnt/data/new");
    const refused = await session.exec("touch /mnt/data/nested/new", { shell: "own" });

    expect(seen).toBe("lower\ndeep\n1000 750");
    expect(await words(session, "cat /mnt/data/shared; ls /mnt/data")).toBe(
      "mine\nlost+found\nlower\nnested\nnew\nshared",
    );
    expect(refused.stderr).toContain("Read-only file system");
    expect(readFileSync("/mnt/data/shared", "utf8")).toBe("lower\n");
    expect(readdirSync("/mnt/data").toSorted()).toEqual(
      ["kept", "lost+found", "lower", "nested", "shared"].toSorted(),
    );
    expect((await session.info()).hostMounts).toEqual(["/mnt/data", "/mnt/data/nested"]);
  });

  test("open files, watches and mappings on it survive checkpoint, fork, restore", async () => {
    await using session = disposable(await own.waypoint.new({ net: "none" }));
    await startKeeper(session);

    const first = await session.checkpoint();
    await untilCounting(session);
    const [fork] = (await first.fork(1)) as [Session];
    await using _fork = disposable(fork);
    await untilCounting(fork);
    await words(fork, "rm -f /tmp/noticed; touch /mnt/data/lower/event");
    await eventually(
      "a watch to notice",
      () => words(fork, "ls /tmp/noticed"),
      (name) => name === "/tmp/noticed",
    );
    const second = await fork.checkpoint();
    await words(session, "echo changed > /mnt/data/shared2; rm /mnt/data/nested/../shared2");
    await session.restore(first);
    await untilCounting(session);
    await fork.restore(second);
    await untilCounting(fork);

    expect(await words(session, "ls /mnt/data/lower")).toBe("");
    expect(await words(fork, "ls /mnt/data/lower")).toBe("event");
  });

  test("files alone, stop, undo and a new daemon keep the mount's files", async () => {
    await using session = disposable(await own.waypoint.new({ net: "none" }));
    await session.exec("echo one > /mnt/data/mine");
    const one = await session.checkpoint({ filesOnly: true });
    await session.exec("echo two > /mnt/data/mine");

    await session.restore(one);
    const restored = await words(session, "cat /mnt/data/mine");
    await session.undo();
    const undone = await words(session, "cat /mnt/data/mine");
    await killDaemon();
    const again = await own.waypoint.session(session.id);
    await again.stop();
    await again.restore(`${(await again.info()).name}@`);

    expect([restored, undone]).toEqual(["one", "two"]);
    expect(await words(again, "cat /mnt/data/mine /mnt/data/shared")).toBe("two\nlower");
  });

  test("what changes on it is told at its place", async () => {
    await using session = disposable(await own.waypoint.new({ net: "none" }));
    await session.exec("mkdir /mnt/data/d; touch /mnt/data/d/in /mnt/data/away; : > /srv/plain");
    const before = await session.checkpoint();
    await session.exec("echo x >> /mnt/data/shared; rm /mnt/data/kept; mv /mnt/data/d /mnt/data/e");
    await session.exec("mv /mnt/data/away /srv/away; chmod 700 /mnt/data");

    const { files } = await own.waypoint.diff(before, session);
    const { changes } = await before.show();

    expect(files?.map(({ change, path, from }) => [change, from ?? "", path].join(" "))).toEqual([
      "modified  /mnt/data",
      "deleted  /mnt/data/away",
      "renamed /mnt/data/d /mnt/data/e",
      "deleted  /mnt/data/kept",
      "modified  /mnt/data/shared",
      "added  /srv/away",
    ]);
    expect(
      changes.files?.map(({ path }) => path).filter((name) => !name.startsWith("/root")),
    ).toEqual(["/mnt/data/away", "/mnt/data/d", "/mnt/data/d/in", "/srv/plain"]);
  });

  test("Waypoint's own state is hidden also where it lies on another mount", async () => {
    mkdirSync("/mnt/data/tmp");
    // No state directory lies below what somebody else could swap.
    sh("chown 0:0 /mnt/data; chmod 755 /mnt/data");
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = "/mnt/data/tmp";
    await using second = await openTestWaypoint({ storeBytes: 1024 ** 3 });
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    const session = await second.waypoint.new({ net: "none" });

    expect(second.stateDir).toMatch(/^\/mnt\/data\/tmp\//);
    expect(await words(session, `ls -A ${second.stateDir}; ls /mnt/data/shared`)).toBe(
      "/mnt/data/shared",
    );
    const [fork] = (await (await session.checkpoint()).fork(1)) as [Session];
    expect(await words(fork, `ls -A ${second.stateDir}`)).toBe("");
  });

  test("a base of its own has none of them", async () => {
    sh(`mkdir -p /mnt/base/bin /mnt/base/etc /mnt/base/root; cd /mnt/base; cp -L /bin/bash bin
      cp -L --parents $(ldd /bin/bash | grep -o '/[^ ]*') .`);
    await using session = disposable(await own.waypoint.new({ base: "/mnt/base", net: "none" }));

    expect((await session.info()).hostMounts).toEqual([]);
  });
});

/** Removes a session at the end of its test. */
function disposable(session: Session): Session & AsyncDisposable {
  return Object.assign(session, {
    [Symbol.asyncDispose]: async () => void (await session.remove({ force: true })),
  });
}
