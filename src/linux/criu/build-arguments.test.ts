import { expect, test } from "vitest";
import { buildDumpArguments, buildRestoreArguments } from "./build-arguments.ts";
import { buildCriuCommand } from "./criu-program.ts";
import { parseUnixPeers } from "./read-process-facts.ts";

const COMMON = {
  rootDir: "/m",

  imagesDir: "/i",
  workDir: "/w",
  logName: "a.log",
};

test("a dump lets the tree run on and takes the snapshot in its hook", () => {
  const words = buildDumpArguments({ ...COMMON, pid: 7, snapshotHookPath: "/hook" }).join(" ");

  expect(words).toMatch(/^dump --tree 7 --no-default-config /);
  expect(words).toContain("--leave-running --action-script /hook --network-lock skip");
});

test("connections are locked only for a dump that needs it, a restore waits only for a hook", () => {
  const dump = { ...COMMON, pid: 7, snapshotHookPath: "/hook", locksConnections: true };
  const restore = { ...COMMON, pidFile: "/w/pid" };

  expect(buildDumpArguments(dump).slice(-4)).toContain("nftables");
  expect(buildRestoreArguments(restore)).not.toContain("--action-script");
  expect(buildRestoreArguments({ ...restore, resumeHookPath: "/resume" }).slice(-2)).toEqual([
    "--action-script",
    "/resume",
  ]);
});

test("a restore detaches, and stops the tasks only if asked to", () => {
  const running = buildRestoreArguments({ ...COMMON, pidFile: "/w/pid" });
  const parked = buildRestoreArguments({ ...COMMON, pidFile: "/w/pid", leaveStopped: true });

  expect(running).toContain("--restore-detached");
  expect(running).not.toContain("--leave-stopped");
  expect(parked).toEqual([...running, "--leave-stopped"]);
});

test("a mount from outside has one key in both directions", () => {
  const externalMounts = [{ key: "host0", insidePath: "/mnt/my data" }];
  const dumped = buildDumpArguments({
    ...{ ...COMMON, externalMounts },
    pid: 7,
    snapshotHookPath: "/hook",
  });
  const restored = buildRestoreArguments({ ...COMMON, externalMounts, pidFile: "/w/pid" });

  expect(dumped).toContain("mnt[/mnt/my data]:host0");
  expect(restored).toContain("mnt[host0]:/m/mnt/my data");
  expect(buildDumpArguments({ ...COMMON, pid: 7, snapshotHookPath: "/h" })).not.toContain(
    "--external",
  );
});

test("CRIU runs in the network namespace and the groups of the tree, if it has any", () => {
  const criu = { argv: ["ld.so", "criu"], env: {}, enterPath: "/enter" };

  expect(buildCriuCommand(criu, null, ["check"])).toEqual(["ld.so", "criu", "check"]);
  expect(buildCriuCommand(criu, "/run/netns/a", ["check"])).toEqual([
    ...["/enter", "--net", "/run/netns/a", "--", "ld.so", "criu", "check"],
  ]);
  expect(buildCriuCommand(criu, null, ["check"], ["/g/cgroup.procs"])).toEqual([
    ...["/enter", "--group", "/g/cgroup.procs", "--", "ld.so", "criu", "check"],
  ]);
});

test("connected unix sockets are read from ss", () => {
  const output = `u_str ESTAB 0 0                     * 18 * 19
u_str ESTAB 0 0 /run/a.sock 19 * 18
u_str LISTEN 0 5 /run/a.sock 20 * 0
`;

  expect(parseUnixPeers(output)).toEqual([
    { inode: "18", peerInode: "19" },
    { inode: "19", peerInode: "18" },
  ]);
});
